// What a graph goes through before it is executed.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Which passes run beside the assignment of storage types.
struct PassOptions {
    bool fuse_epilogue_add = true;
    bool fuse_activation_backward = false;  // for GPUs
    bool group_matmuls = true, fuse_elementwise = true, elide_concat = true;
};

/// A GPU runs every pass, a CPU all but fuse_activation_backward.
PassOptions passes_for(const DeviceTraits& device);

/// For where nodes are looked at one by one.
constexpr PassOptions only_storage_types{
    .fuse_epilogue_add = false, .group_matmuls = false, .fuse_elementwise = false, .elide_concat = false};

/// Sums into the epilogues of the kernels that make their terms, activations' backward into those of the products that
/// make their gradients, products of the same few rows into one node, chains of elementwise nodes into one, parts
/// of a concatenation into their places, activations into the format that the graph asks for: in this order, each
/// leaving the next less to do. Values stay what they are, but for rounding. A graph whose passes have run stays as it
/// is.
void run_passes(Graph& graph, const PassOptions& options = {});

}  // namespace vkf
