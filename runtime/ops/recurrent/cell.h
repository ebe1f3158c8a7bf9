// Recurrent cells: one step of an RNN, an LSTM or a GRU.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// Numbered as in shaders/recurrent/recurrent_cell.glsl.
enum class Cell : std::uint32_t { rnn, lstm, gru };

/// Rows of a cell's weights per hidden unit: 1 of an RNN; 4 of an LSTM, in PyTorch's order i, f, g, o; 3 of a GRU, in
/// PyTorch's order r, z, n.
constexpr std::int64_t gates_of(Cell cell) {
    return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

/// State of a cell, [B, H] each. Only an LSTM has c.
struct RecurrentState {
    Tensor h;
    Tensor c = {};
};

/// A step of sequences of different lengths: rows with lengths[b] <= step keep their state. The gradients of a and u
/// are 0 there, and that of the state is passed on.
struct SequenceStep {
    Tensor lengths = {};  // i32 [B]; absent: no row has ended
    std::int64_t step = 0;
};

// In all cells a = W_x x + b_x and u = W_h h + b_h, [B, G·H], with G = gates_of(cell) gates next to each other. a may
// be a slice of wider rows, as one step of [B, T, G·H]; its gradient can be written as such a slice. Kernels compute in
// fp32. The derivative computes the gates again from a and u, which are kept, instead of keeping the gates in addition:
// that costs little compared with the product that makes u. Throw InputError if shapes do not fit.

/// h' = tanh(a + u). The state before, h, is needed only with lengths.
Tensor rnn_cell(Tensor a, Tensor u, Tensor h = {}, const SequenceStep& time = {});

/// c' = σ(f) c + σ(i) tanh(g) and h' = σ(o) tanh(c'), where (i, f, g, o) = a + u (Hochreiter and Schmidhuber, Neural
/// Computation 9(8), 1997, with the forget gate of Gers et al., 2000). before.h is needed only with lengths.
RecurrentState lstm_cell(Tensor a, Tensor u, const RecurrentState& before, const SequenceStep& time = {});

/// h' = (1 − z) n + z h, where r = σ(a_r + u_r), z = σ(a_z + u_z), n = tanh(a_n + r u_n): the reset gate is applied
/// after the product, as PyTorch and cuDNN do (Cho et al., arXiv 1406.1078, apply it before).
Tensor gru_cell(Tensor a, Tensor u, Tensor h, const SequenceStep& time = {});

}  // namespace vkf
