// Lowering: the kernels that compute a node.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace vkf {

struct Lowered {
    std::vector<Dispatch> dispatches;
    std::vector<std::int64_t> scratches;  // elements of each temporary
    std::int64_t tables = 0;              // bytes of the tables among the arguments
};

/// Kernels of a live node that is not a view. Ops count traffic as if all numbers had 32 bits; lower() scales it to the
/// formats in which their operands are kept.
Lowered lower(const Graph& graph, const LiveNodes& live, const Node& node, const DeviceTraits& device);

}  // namespace vkf
