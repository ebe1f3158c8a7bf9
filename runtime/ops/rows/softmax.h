// Softmax of rows with an optional mask.
#pragma once

#include "graph/graph.h"
#include "ops/attention/attention_mask.h"

namespace vkf {

/// softmax over the last axis, of the columns that a row sees; a row that sees none gives zeros. The last two axes
/// [T, S] are queries and keys. The mask may have key_lengths, i32 [B] for x [B, ..., S], or i32 [1], but no
/// query_lengths.
Tensor softmax(Tensor x, const AttentionMask& mask = {});

}  // namespace vkf
