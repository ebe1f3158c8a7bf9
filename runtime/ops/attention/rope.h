// Rotary position embedding (RoPE, Su et al., arXiv 2104.09864): rotates queries and keys by angles that depend on
// their positions.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace vkf {

/// cos and sin of p · frequency for positions p = 0, 1, …: a constant [positions, 2·F], in which a row has F cosines
/// and then F sines. Computed in double and rounded once, so accurate at any position.
Tensor rope_table(Graph& graph, std::span<const double> frequencies, std::int64_t positions);

struct RopeOptions {
    bool clockwise = false;  // rotates by −angle
    Tensor positions = {};   // i32 [T] or [B, T], less than the table's rows; absent: 0, 1, …, T − 1
};

/// Rotates the pair of elements i and i + D/2 of every head of x [B, T, heads·D] by angle i of its position; models of
/// Hugging Face have the same pairs. `table` is from rope_table(), [P, D]; without given positions T is at most P.
/// Positions outside [0, P) must be refused before the run; the device clamps them.
Tensor rope(Tensor x, Tensor table, const RopeOptions& options = {});
/// Rotates queries and keys by one kernel and returns both; keys may have fewer heads.
std::array<Tensor, 2> rope(Tensor q, Tensor k, Tensor table, const RopeOptions& options = {});

}  // namespace vkf
