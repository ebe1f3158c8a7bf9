// The place of the greatest.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// The column of the greatest number of each row, i32: [..., C] → [...]; the first of equals, or of the first NaN where
/// there is one, as PyTorch. No derivative.
Tensor argmax(Tensor x);

}  // namespace vkf
