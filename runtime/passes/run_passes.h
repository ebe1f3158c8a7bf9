// Passes that change a graph before it is executed.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Selects the passes that run in addition to the assignment of storage types.
struct PassOptions {
    bool fuse_epilogue_add = true;
    bool fuse_activation_backward = false;  // for GPUs
    bool group_matmuls = true, fuse_elementwise = true, elide_concat = true;
};

/// A GPU runs every pass, a CPU all but fuse_activation_backward.
PassOptions passes_for(const DeviceTraits& device);

/// For code that looks at nodes one by one.
constexpr PassOptions only_storage_types{
    .fuse_epilogue_add = false, .group_matmuls = false, .fuse_elementwise = false, .elide_concat = false};

/// Fuses sums into the epilogues of the kernels that make their terms, then activations' backward into the epilogues of
/// the products that make their gradients; groups products of the same few rows into one node; fuses chains of
/// elementwise nodes; makes parts of a concatenation in their places; keeps activations in the format that the graph
/// asks for. In this order each pass leaves less work to the next. Values do not change, except for rounding. A graph
/// whose passes have run is left as it is.
void run_passes(Graph& graph, const PassOptions& options = {});

}  // namespace vkf
