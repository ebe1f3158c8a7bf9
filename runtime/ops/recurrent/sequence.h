// Recurrent layers: cells applied to all steps of sequences.
#pragma once

#include "graph/graph.h"
#include "ops/recurrent/cell.h"

namespace vkf {

struct RecurrentOptions {
    /// i32 [B]: steps of each sequence; steps after them are padding. Absent: all have T.
    Tensor lengths = {};
    /// From each sequence's own last step to its first.
    bool reverse = false;
    /// State before the first step, [B, H]; absent: zeros. c is for LSTMs only.
    RecurrentState initial = {};
};

struct RecurrentSequence {
    Tensor outputs;       // [B, T, H]: h after each step, 0 at padding
    RecurrentState last;  // [B, H]: state after each sequence's last step, or, in reverse, its first
};

/// h_t = cell(a_t, W_h h_{t−1} + b_h, h_{t−1}) for t = 0, 1, …, with the cells of ops/recurrent/cell.h; as PyTorch's
/// RNN, LSTM and GRU of packed sequences that are padded again. a [B, T, G·H] = W_x x_t + b_x for all steps, of which a
/// caller makes one product; weight_h [G·H, H]; bias_h [G·H] or absent. Only the products of W_h are made step by step,
/// one launch each, then one of the cell, which writes its output into place.
///
/// Saved for the derivative: the state before each step, [T, B, H] (of an LSTM c, too), and the gates before their
/// activations, [T, B, G·H]: a + u of an RNN and an LSTM, u of a GRU, which also keeps a. The derivative makes the
/// gradient of a step by step; the gradients of weight_h and bias_h are one product and one sum over all steps.
///
/// Throws InputError naming the operand and its type if it does not fit.
RecurrentSequence rnn(Tensor a, Tensor weight_h, Tensor bias_h, const RecurrentOptions& options = {});
RecurrentSequence lstm(Tensor a, Tensor weight_h, Tensor bias_h, const RecurrentOptions& options = {});
RecurrentSequence gru(Tensor a, Tensor weight_h, Tensor bias_h, const RecurrentOptions& options = {});

}  // namespace vkf
