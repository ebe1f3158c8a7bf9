// Softmax of rows, masked where wanted.
#pragma once

#include "graph/graph.h"
#include "ops/attention_mask.h"

namespace vkf {

/// softmax over the last axis of the columns a row may see; a row that sees none gives zeros. Of the last two axes
/// [T, S], rows are queries and columns keys. The mask has no lengths.
Tensor softmax(Tensor x, const AttentionMask& mask = {});

}  // namespace vkf
