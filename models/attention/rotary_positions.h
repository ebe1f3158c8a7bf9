// Rotary positions of a language model, with or without a cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/attention/key_value_cache.h"

namespace vkf {

/// Rotation of queries and keys by their positions. Heads are twice as wide as there are frequencies; a head of a
/// variant with several maps counts as that many heads.
struct RotaryPositions {
    Tensor table, positions;
    bool clockwise = false;

    /// Positions are 0, 1, … in a row of tokens, or those of the cache. `frequencies` are from rope_frequencies.
    RotaryPositions(Graph& graph, std::span<const double> frequencies, std::int64_t length, KeyValueCache* cache);

    /// Returns q [B, T, heads·D] and k [B, T, kv_heads·D], rotated.
    std::array<Tensor, 2> operator()(Tensor q, Tensor k) const;
};

}  // namespace vkf
