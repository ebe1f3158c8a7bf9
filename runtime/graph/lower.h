// From a node to the kernels that compute it.
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

/// The kernels of a live node that is no view. Ops count traffic as if all numbers had 32 bits; here it becomes that of
/// the formats their operands are kept in.
Lowered lower(const Graph& graph, const LiveNodes& live, const Node& node, const DeviceTraits& device);

}  // namespace vkf
