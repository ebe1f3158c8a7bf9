// Rows of a table by index.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Rows of table [V, C] at i32 indices [...] → [..., C]. Its backward sums in a fixed order. Indices outside [0, V)
/// must be refused before the run; on the device they read row 0 … V−1 clamped.
Tensor embedding(Tensor table, Tensor indices);

}  // namespace vkf
