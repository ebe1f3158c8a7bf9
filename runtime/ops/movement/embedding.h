// Rows of a table by index.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Rows of table [V, C] at i32 indices [...] → [..., C]. The table's gradient is summed in a fixed order. Indices
/// outside [0, V) must be refused before the run; the device clamps them to 0 … V−1.
Tensor embedding(Tensor table, Tensor indices);

}  // namespace vkf
