#include "models/attention/scored_attention.h"

#include <cmath>

#include "models/layers.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "ops/rows/softmax.h"

namespace vkf {

namespace {

/// A map without bias, unless told otherwise, that begins with PyTorch's draws.
Tensor score_map(const Scope& scope, Tensor x, std::int64_t out, bool bias = false) {
    const float bound = 1.0f / std::sqrt(static_cast<float>(x.width()));
    return linear(scope, x, out,
                  {.bias = bias, .out_in = true, .init = Init::uniform(bound), .bias_init = Init::uniform(bound)});
}

/// Scores [B, T, S] of states s [B, T, C] and keys [B, S, …].
Tensor scores(const Scope& scope, const ScoredAttention& attention, Tensor s, Tensor keys) {
    const auto product = [&](Tensor q) { return matmul(q, keys, {.transpose_b = true}); };
    switch (attention.score) {
        case AttentionScore::dot:
            return product(s);
        case AttentionScore::general:
            return product(score_map(scope / "linear_in", s, keys.width()));
        case AttentionScore::low_rank:
            return product(score_map(scope / "linear_query", s, keys.width()));
        case AttentionScore::additive:
            break;
    }
    const Tensor query = score_map(scope / "linear_query", s, keys.width(), true);
    const std::int64_t b = s.shape()[0], queries = s.shape()[1], positions = keys.shape()[1], rank = keys.width();
    const Tensor sum = add(reshape(query, {b, queries, 1, rank}), reshape(keys, {b, 1, positions, rank}));
    return reshape(score_map(scope / "v", activate(sum, Activation::tanh), 1), {b, queries, positions});
}

}  // namespace

KeysAndValues keys_and_values(const Scope& scope, const ScoredAttention& attention, Tensor h) {
    const bool maps = attention.score == AttentionScore::low_rank || attention.score == AttentionScore::additive;
    return {maps ? score_map(scope / "linear_context", h, attention.rank) : h, h};
}

Attended attend(const Scope& scope, const ScoredAttention& attention, Tensor s, const KeysAndValues& memory,
                Tensor key_lengths) {
    const std::int64_t rows = memory.keys.shape()[0];
    const Tensor grouped = reshape(s, {rows, s.rows() / rows, s.width()});
    const Tensor weights = softmax(scores(scope, attention, grouped, memory.keys), {.key_lengths = key_lengths});
    return {.context = reshape(matmul(weights, memory.values), s.shape()),
            .weights = reshape(weights, {s.shape()[0], s.shape()[1], memory.keys.shape()[1]})};
}

}  // namespace vkf
