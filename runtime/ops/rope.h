// Rotary position embedding (RoPE, Su et al., arXiv 2104.09864): positions as angles by which queries and keys are
// turned.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace vkf {

/// cos and sin of p · frequency, for positions p = 0, 1, …: a constant [positions, 2·F], a row's F cosines and then its
/// F sines. Computed in double and rounded once, so right at any position.
Tensor rope_table(Graph& graph, std::span<const double> frequencies, std::int64_t positions);

struct RopeOptions {
    bool clockwise = false;  // by −angle
    Tensor positions = {};   // i32 [T] or [B, T], below the table's; else 0, 1, …, T − 1
};

/// Turns the pair of elements i and i + D/2 of every head of x [B, T, heads·D] by angle i of its position, as Hugging
/// Face's models pair them. `table` is rope_table's, [P, D]; T is at most P where positions are not given. They must be
/// refused before the run if they lie outside [0, P); on the device they are clamped to it.
Tensor rope(Tensor x, Tensor table, const RopeOptions& options = {});
/// The same of queries and keys, which may have fewer heads, by one kernel: q and k, turned.
std::array<Tensor, 2> rope(Tensor q, Tensor k, Tensor table, const RopeOptions& options = {});

}  // namespace vkf
