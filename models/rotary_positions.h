// Rotary positions of a language model, with or without a cache.
#pragma once

#include <cstdint>
#include <span>

#include "models/language_model.h"

namespace vkf {

/// By what queries and keys are turned. A head of a mixer with several maps is as many, each with all frequencies.
struct RotaryPositions {
    Tensor table, positions;
    std::int64_t maps = 1;
    bool clockwise = false;

    /// Of a row of tokens one after the other, or where the cache says. Frequencies are rope_frequencies'.
    RotaryPositions(Graph& graph, std::span<const double> frequencies, std::int64_t length, const KeyValueCache* cache);

    /// x [B, T, heads·D], turned.
    Tensor operator()(Tensor x, std::int64_t heads) const;
};

}  // namespace vkf
