// AttentionX's consensus discrepancy.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

enum class GammaOn : std::uint32_t { sum, value };

/// Consensus discrepancy of AttentionX: v − γ·o (sum: 000 eq 10-11) or γ·v − o (value: 001 eq 9-10), elementwise.
/// With grouped queries v is [..., N·D] with N = value_heads heads; each serves all query heads that share it.
Tensor discrepancy(Tensor o, Tensor v, float gamma, GammaOn on, std::int64_t value_heads = 0);

}  // namespace vkf
