// All kernels that a graph may be computed by: those of each implementation that an autotuner could choose.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// A kernel with its constants, as one of a node's candidates launches it.
struct KernelVariant {
    std::size_t node;            // its place in the graph
    std::string implementation;  // the candidate; empty where there is no choice, or it makes no difference
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
};

/// Those of all live nodes, in their order, each once; `device` is what they are lowered for, and its autotuner is not
/// asked. The graph's passes must have run.
std::vector<KernelVariant> kernel_variants(const Graph& graph, const DeviceTraits& device);

}  // namespace vkf
