// The graph of a case, with the gradients of its outputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/op_case.h"
#include "graph/graph.h"
#include "graph/reference.h"

namespace vkf::checks {

/// A case as a graph: inputs, outputs "y0", …, and for each differentiable operand its gradient "d_x0", … of
/// Σ <output, weight>, with weights as further inputs "w0", …. With a format of 16 bits, everything is stored in it
/// that may be (passes/assign_storage_types.h).
struct CaseGraph {
    Graph graph;
    Arrays leaves;
    std::map<std::string, Tensor> kept;  // per leaf: the tensor that ops read, which may be a copy in 16 bits
    std::vector<std::string> gradient_names;

    CaseGraph(const OpCase& c, bool with_gradients, Format format = Format::f32);
};

/// A dispatch, and the name of the op that makes it.
struct OpDispatch {
    std::string op;
    Dispatch dispatch;
};

/// Dispatches of a graph whose passes have run, in order, lowered for a device.
std::vector<OpDispatch> dispatches_of(const CaseGraph& graph, const DeviceTraits& device);

/// Leaves as ops read them: rounded if they are stored in 16 bits.
Arrays as_kept(const CaseGraph& graph);

}  // namespace vkf::checks
