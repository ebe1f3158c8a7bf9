// Attention to few linear combinations of the keys.
#pragma once

#include "graph/graph.h"
#include "ops/attention/attention.h"

namespace vkf {

/// softmax(scale · q (E k)ᵀ) (F v) per head (Linformer: Wang et al., arXiv 2006.04768, eq. 7): q [B, T, M·D],
/// k [B, S, N·D], v [B, S, N·D_V] → [B, T, M·D_V]. e and f make K' keys and values of up to n: [K', n], one matrix for
/// all heads, or [N, K', n], one per key head; they may be one tensor, and K' of both is equal. Of S < n keys the first
/// columns are used. Keys from key_lengths on, which may be anything, are left out of the sums.
///
/// Time and memory are those of attention to K' keys and of two products with e and f. Throws InputError for operands
/// that do not fit, and for masks that depend on positions: the combined keys have none, so each would mix later keys
/// into earlier queries.
Tensor linformer_attention(Tensor q, Tensor k, Tensor v, Tensor e, Tensor f, const AttentionOptions& options);

}  // namespace vkf
