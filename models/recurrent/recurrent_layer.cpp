#include "models/recurrent/recurrent_layer.h"

#include <cmath>

#include "base/error.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// Initial bias of inputs: gate 1 of an LSTM is the forget gate.
Init input_bias(Cell cell, std::int64_t width) {
    return cell == Cell::lstm ? Init::zeros_with_ones(width, 2 * width) : Init::zeros();
}

Tensor side_by_side(Tensor forward, Tensor backward) {
    if (!forward) return {};
    const Tensor parts[] = {forward, backward};
    return concat(parts);
}

}  // namespace

RecurrentLayer recurrent_layer(const Scope& scope, const std::string& name, Cell cell, std::int64_t inputs,
                               std::int64_t width) {
    const std::int64_t rows = gates_of(cell) * width;
    const Init draws = Init::uniform(1.0f / std::sqrt(static_cast<float>(width)));
    return {.cell = cell,
            .weight_ih = scope.parameter("weight_ih_" + name, {rows, inputs}, draws),
            .weight_hh = scope.parameter("weight_hh_" + name, {rows, width}, draws),
            .bias_ih = scope.parameter("bias_ih_" + name, {rows}, input_bias(cell, width)),
            .bias_hh = scope.parameter("bias_hh_" + name, {rows}, Init::zeros())};
}

Tensor gate_inputs(const RecurrentLayer& layer, Tensor x) {
    return matmul(x, layer.weight_ih, {.transpose_b = true, .bias = layer.bias_ih});
}

RecurrentSequence run(const RecurrentLayer& layer, Tensor gates, const RecurrentOptions& options) {
    const auto of_cell = layer.cell == Cell::rnn ? rnn : layer.cell == Cell::lstm ? lstm : gru;
    return of_cell(gates, layer.weight_hh, layer.bias_hh, options);
}

EncodedSequence encode(const Scope& scope, const RecurrentEncoder& encoder, Tensor x, Tensor lengths) {
    EncodedSequence made;
    const std::int64_t width = encoder.bidirectional ? encoder.width / 2 : encoder.width;
    for (std::int64_t i = 0; i < encoder.layers; ++i) {
        const std::size_t first = scope.graph().nodes().size();
        const std::string name = text("l", i);
        const auto direction = [&](bool reverse) {
            const RecurrentLayer layer =
                recurrent_layer(scope, reverse ? name + "_reverse" : name, encoder.cell, x.width(), width);
            return run(layer, gate_inputs(layer, x), {.lengths = lengths, .reverse = reverse});
        };
        const RecurrentSequence forward = direction(false);
        made.outputs = forward.outputs;
        made.last.push_back(forward.last);
        if (encoder.bidirectional) {
            const RecurrentSequence backward = direction(true);
            made.outputs = side_by_side(forward.outputs, backward.outputs);
            made.last.back() = {.h = side_by_side(forward.last.h, backward.last.h),
                                .c = side_by_side(forward.last.c, backward.last.c)};
        }
        if (i + 1 < encoder.layers) x = (scope / name).drop(made.outputs);
        scope.graph().mark_region(first);
    }
    return made;
}

}  // namespace vkf
