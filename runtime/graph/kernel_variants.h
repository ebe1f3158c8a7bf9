// All kernels that may compute a graph: those of each implementation that an autotuner could choose.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// A kernel with its constants, as one of a node's candidates launches it.
struct KernelVariant {
    std::size_t node;            // index in the graph
    std::string implementation;  // the candidate; empty if there is no choice, or if it makes no difference
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
};

/// Kernel variants of all live nodes, in node order, each once. `device` is the device they are lowered for; its
/// autotuner is not asked. The graph's passes must have run.
std::vector<KernelVariant> kernel_variants(const Graph& graph, const DeviceTraits& device);

}  // namespace vkf
