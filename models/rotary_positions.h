// Rotary positions of a language model, with or without a cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/language_model.h"

namespace vkf {

/// By what queries and keys are turned: heads as wide as there are frequencies for. One of a mixer with several maps is
/// as many.
struct RotaryPositions {
    Tensor table, positions;
    bool clockwise = false;

    /// Of a row of tokens one after the other, or where the cache says. Frequencies are rope_frequencies'.
    RotaryPositions(Graph& graph, std::span<const double> frequencies, std::int64_t length, const KeyValueCache* cache);

    /// q [B, T, heads·D] and k [B, T, kv_heads·D], turned.
    std::array<Tensor, 2> operator()(Tensor q, Tensor k) const;
};

}  // namespace vkf
