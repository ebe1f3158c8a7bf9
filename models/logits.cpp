#include "models/logits.h"

#include <array>
#include <cstdint>

#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// Factors without a bias of the same logits: the bias is a column of the table, which meets a column of ones. So
/// head_loss computes the bias and its gradient chunk by chunk, with all terms and on every device, as a part of its
/// products. There are as many more columns as one load of 16-bit numbers takes, so that rows stay aligned; all but the
/// first are zero in the table.
Features without_bias(const Features& made) {
    if (!made.bias) return made;
    constexpr std::int64_t columns = 8;
    Graph& graph = made.features.graph();
    const std::int64_t vocabulary = made.table.rows();
    const Tensor ones = fill(graph, made.features.shape().with_width(columns), 1.0f);
    const Tensor zeros = fill(graph, {vocabulary, columns - 1}, 0.0f);
    return {concat(std::array{made.features, ones}),
            concat(std::array{made.table, reshape(made.bias, {vocabulary, 1}), zeros})};
}

}  // namespace

Tensor logits_of(const Features& made, Tensor rows) {
    return matmul(rows, made.table, {.transpose_b = true, .bias = made.bias});
}

Tensor mean_loss(const Scope& scope, const Features& made, Tensor targets, const LossTerms& terms) {
    const Features factors = without_bias(made);
    return head_loss(factors.features, factors.table, targets, {.d_loss = scope.d_loss(), .terms = terms});
}

}  // namespace vkf
