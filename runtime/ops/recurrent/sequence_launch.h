// Launches that a recurrent layer and its derivative share, and the derivative itself.
#pragma once

#include <optional>

#include "ops/recurrent/cell_launch.h"

namespace vkf {

/// True if the sum a + u is all that a cell reads: the product that makes u then adds a.
constexpr bool sums_gates(Cell cell) {
    return cell != Cell::gru;
}

/// Steps in the order in which a layer takes them.
struct StepOrder {
    std::int64_t length;
    bool reverse;

    std::int64_t operator[](std::int64_t k) const { return reverse ? length - 1 - k : k; }
};

/// y = x · op(weight) + bias + addend, where op is the identity or the transpose, and bias and addend are optional.
/// addend may be y.
struct StepProduct {
    std::int64_t rows;
    StepRows x;
    Tensor weight;
    bool transpose = false;
    Tensor bias = {};
    StepRows addend = {};
    StepRows y;
};

/// Appends the product of one step; products that run one after the other share `parts` (ops/matmul/gemm.h).
void append_step_product(Lowering& lowering, const StepProduct& product, std::optional<Scratch>& parts);

/// Operands of a layer's derivative: those of the layer, the tensors that it kept (RecurrentOp in sequence.cpp), and
/// the gradients of its results, which may be absent. `input` is a, or absent if sums_gates(cell).
struct RecurrentSaved {
    Tensor input, weight, gates, states, cells, lengths;
    Tensor d_outputs;
    RecurrentState d_last;
};

struct RecurrentGradients {
    Tensor d_a;  // [B, T, G·H]
    Tensor d_u;  // [T, B, G·H]
    RecurrentState d_first;
};

RecurrentGradients recurrent_backward(Cell cell, bool reverse, const RecurrentSaved& saved);

}  // namespace vkf
