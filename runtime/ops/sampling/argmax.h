// Index of the largest element.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Column of the largest number of each row, i32: [..., C] → [...]; the first of equals, or the first NaN if there is
/// one, as in PyTorch. No derivative.
Tensor argmax(Tensor x);

}  // namespace vkf
