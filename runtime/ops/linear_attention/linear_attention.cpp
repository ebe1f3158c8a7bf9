// A composition: features of all heads as rows of matrices, products of these, running sums over chunks, quotients.
#include "ops/linear_attention/linear_attention.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"
#include "base/integers.h"
#include "ops/attention/attention_parts.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/linear_attention/head_features.h"
#include "ops/linear_attention/head_quotients.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "ops/rows/running_sum.h"

namespace vkf {

namespace {

/// Positions of a chunk. A chunk's weights cost as many products per position as its state of 64 columns.
constexpr std::int64_t longest_chunk = 64;

HeadFeatureMap map_of(FeatureMap features) {
    return features == FeatureMap::elu    ? HeadFeatureMap::elu
           : features == FeatureMap::relu ? HeadFeatureMap::relu
                                          : HeadFeatureMap::taylor;
}

/// Divisors up to this one count as 0. The smallest normal number, or the rounding of 1 + q̂ᵀk̂ where it should be 0.
float least_divisor(FeatureMap features) {
    return features == FeatureMap::taylor ? 0x1p-20f : 0x1p-126f;
}

AttentionExtents checked_extents(Tensor q, Tensor k, Tensor v, const LinearAttentionOptions& options) {
    const AttentionOptions full{.heads = options.heads,
                                .kv_heads = options.kv_heads,
                                .mask = {.query_lengths = options.query_lengths, .key_lengths = options.key_lengths}};
    const auto type = [](Tensor x) { return x ? x.type() : TensorType{DType::f32, {0}}; };
    check_attention(
        full, std::array{type(q), type(k), type(v), type({}), type(options.query_lengths), type(options.key_lengths)});
    return {full, q.shape(), k.shape(), v.shape()};
}

/// 1 where a query at a chunk's position sees a key of the chunk, else 0.
Tensor causal_weights(Graph& graph, std::int64_t chunk) {
    std::vector<float> visible(as_index(chunk * chunk));
    for (std::int64_t i = 0; i < chunk; ++i) std::fill_n(visible.begin() + i * chunk, i + 1, 1.0f);
    return graph.constant({chunk, chunk}, std::span<const float>(visible));
}

/// Linear attention to the keys, and to those before them that the state `initial`, or none, stands for.
LinearAttentionStep attend(Tensor q, Tensor k, Tensor v, Tensor initial, const AttentionExtents& e,
                           const LinearAttentionOptions& options) {
    const HeadFeatureMap map = map_of(options.features);
    const bool chunked = options.causal && e.T > 1;  // a single query is at the last key
    const std::int64_t chunk =
        chunked ? std::min(longest_chunk, static_cast<std::int64_t>(std::bit_ceil(as_index(e.S)))) : e.S;
    const std::int64_t chunks = ceil_div(e.S, chunk), matrices = e.B * e.N * chunks;
    const HeadChunks keys{.heads = e.N, .chunk = chunk, .chunks = chunks, .lengths = options.key_lengths};
    const HeadChunks queries{.heads = e.M,
                             .sharing = e.gqa_group(),
                             .chunk = chunked ? chunk : e.T,
                             .chunks = chunks,
                             .keys = chunked ? e.S : 0,
                             .lengths = options.query_lengths,
                             .key_lengths = chunked ? options.key_lengths : Tensor()};

    const Tensor q_features = head_features(q, map, queries), k_features = head_features(k, map, keys),
                 values = head_features(v, HeadFeatureMap::with_one, keys);
    const std::int64_t features = k_features.width(), columns = values.width();
    const RunningSums states = running_sums(
        reshape(matmul(k_features, values, {.transpose_a = true}), {e.B * e.N, chunks, features * columns}),
        initial ? reshape(initial, {e.B * e.N, features * columns}) : Tensor());

    Tensor sums;
    if (!chunked) {
        sums = matmul(q_features, reshape(states.total, {matrices, features, columns}));
    } else {
        const Tensor weights =
            mul(reshape(matmul(q_features, k_features, {.transpose_b = true}), {matrices, e.gqa_group(), chunk, chunk}),
                causal_weights(q.graph(), chunk));
        MatmulOptions earlier;
        if (chunks > 1 || initial)
            earlier.addend = matmul(q_features, reshape(states.before, {matrices, features, columns}));
        sums = matmul(reshape(weights, {matrices, e.gqa_group() * chunk, chunk}), values, earlier);
    }
    return {.o = head_quotients(sums, e.B, e.T, e.D_V, queries, least_divisor(options.features)),
            .state = reshape(states.total, {e.B, e.N * features * columns})};
}

}  // namespace

Tensor linear_attention(Tensor q, Tensor k, Tensor v, const LinearAttentionOptions& options) {
    return attend(q, k, v, {}, checked_extents(q, k, v, options), options).o;
}

LinearAttentionStep linear_attention_step(Tensor q, Tensor k, Tensor v, Tensor state,
                                          const LinearAttentionOptions& options) {
    const AttentionExtents e = checked_extents(q, k, v, options);
    require(e.T == e.S, "linear attention step: there are ", e.T, " queries and ", e.S, " keys, wanted equal numbers");
    require(!options.query_lengths, "linear attention step: query_lengths are given, wanted key_lengths alone");
    const TensorType wanted{DType::f32, {e.B, linear_attention_state(options, e.D, e.D_V)}};
    require(state.type() == wanted, "linear attention step: the state is ", state.type(), ", wanted ", wanted);
    LinearAttentionOptions step = options;
    step.causal = true;
    step.query_lengths = options.key_lengths;
    return attend(q, k, v, state, e, step);
}

std::int64_t linear_attention_state(const LinearAttentionOptions& options, std::int64_t head_width,
                                    std::int64_t value_width) {
    return (options.kv_heads ? options.kv_heads : options.heads) *
           feature_columns(map_of(options.features), head_width) *
           feature_columns(HeadFeatureMap::with_one, value_width);
}

}  // namespace vkf
