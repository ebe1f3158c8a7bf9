// Recurrent layers of models, with PyTorch's names of parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/scope.h"
#include "ops/recurrent/sequence.h"

namespace vkf {

/// Parameters of one layer and direction of PyTorch's RNN, LSTM or GRU: weight_ih [G·H, C], weight_hh [G·H, H], and
/// biases [G·H], where G = gates_of(cell) and C is the width of inputs.
struct RecurrentLayer {
    Cell cell;
    Tensor weight_ih, weight_hh, bias_ih, bias_hh;

    std::int64_t width() const { return weight_hh.width(); }
};

/// The layer "l0", "l0_reverse", "l1", … of the scope. Weights begin with draws from U(−1/√H, 1/√H), biases with 0, but
/// that of an LSTM's forget gate with 1, so that a new cell remembers (Gers et al., 2000; Jozefowicz et al., 2015).
RecurrentLayer recurrent_layer(const Scope& scope, const std::string& name, Cell cell, std::int64_t inputs,
                               std::int64_t width);

/// W_ih x + b_ih of all steps, [B, T, G·H].
Tensor gate_inputs(const RecurrentLayer& layer, Tensor x);

/// All steps of a layer: rnn(), lstm() or gru() of ops/recurrent/sequence.h.
RecurrentSequence run(const RecurrentLayer& layer, Tensor gates, const RecurrentOptions& options = {});

/// Rows of different lengths; `lengths` is i32 [B], or absent.
struct EncodedSequence {
    Tensor outputs;                    // [B, T, H]
    std::vector<RecurrentState> last;  // of each layer, [B, H]
};

struct RecurrentEncoder {
    Cell cell;
    std::int64_t layers, width;
    bool bidirectional;  // a layer is two of half its width, one in each direction, side by side
};

/// Layers on top of each other, with dropout between them; each is a region of the graph.
EncodedSequence encode(const Scope& scope, const RecurrentEncoder& encoder, Tensor x, Tensor lengths);

}  // namespace vkf
