// Absolute positions of a transformer without learned ones.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// Order of a row's sines and cosines: alternately from a sine on (Vaswani et al., 2017), or all sines and then all
/// cosines, as models of Hugging Face's MarianMT have them.
enum class SinusoidLayout { interleaved, halves };

/// The element in `column` of row t of the table that sinusoidal_positions() makes.
float sinusoidal_position(std::int64_t t, std::int64_t column, std::int64_t width, SinusoidLayout layout);

/// Sines and cosines of t · 10000^(−2k/C) for positions t = 0, 1, … (Vaswani et al., 2017, §3.5): a constant
/// [positions, C], C = `width`. With `interleaved`, column 2k is the sine and column 2k + 1 the cosine of angle k. With
/// `halves`, column k is the sine and column ⌈C/2⌉ + k the cosine. An odd width has one sine more than cosines.
/// Computed in double and rounded once, so accurate at any position. Both sizes are at least 1.
Tensor sinusoidal_positions(Graph& graph, std::int64_t positions, std::int64_t width, SinusoidLayout layout);

}  // namespace vkf
