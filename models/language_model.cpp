#include "models/language_model.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "models/logits.h"
#include "ops/movement/view.h"
#include "ops/sampling/argmax.h"
#include "ops/sampling/sample.h"

namespace vkf {

const Task& language_task() {
    static const Task task{.model = "language model", .sizes = {Dimension::vocab_size, Dimension::context}};
    return task;
}

namespace {

Features features(const Scope& scope, const ModelConfig& config, Tensor tokens, KeyValueCache* cache, bool last_only) {
    validate(config);
    const Size context = config.size(Dimension::context);
    const std::int64_t length = tokens.shape()[1];
    require(length <= context, "a sequence of ", length, " tokens exceeds ", context.key, " ", context.value);
    const Scope adapted = scope.with_adapters(config.adapters() ? &*config.adapters() : nullptr);
    return std::get<LanguageGraph>(config.family().graph).features(adapted, config, tokens, cache, last_only);
}

/// Likeliest token at each position, i32 [B, T]. The logits of one row at a time exist.
Tensor likeliest(const Features& made) {
    const std::int64_t batch = made.features.shape()[0], length = made.features.shape()[1];
    std::vector<Tensor> rows;
    for (std::int64_t b = 0; b < batch; ++b) rows.push_back(argmax(logits_of(made, slice(made.features, 0, b, 1))));
    return reshape(concat(rows), {batch, length});
}

/// A cache of `rows` rows for `length` more tokens of each; capacity 0 is a whole context.
KeyValueCache cache_of(Graph& graph, const ModelConfig& config, std::int64_t length, Format activations,
                       std::int64_t rows, std::int64_t capacity) {
    const Shape positions = rows > 1 ? Shape{rows, length} : Shape{length};
    return {.lengths = graph.input("lengths", {DType::i32, {rows}}),
            .positions = graph.input("positions", {DType::i32, positions}),
            .capacity = capacity > 0 ? capacity : config.size(Dimension::context),
            .format = activations};
}

/// Logits of the tokens that follow those read into the cache, [rows, 1, V].
Tensor cached_logits(const Scope& scope, const ModelConfig& config, std::int64_t length, std::int64_t rows,
                     KeyValueCache& cache) {
    const Tensor read = scope.graph().input("tokens", {DType::i32, {rows, length}});
    return language_logits(scope, config, read, &cache, true);
}

/// Cache of one row with a whole context, and the states that the model's layers keep in it.
KeyValueCache cache_of_one(Graph& graph, const ModelConfig& config, Format activations) {
    Parameters parameters;
    KeyValueCache cache = cache_of(graph, config, 1, activations, 1, 0);
    cached_logits(Scope(graph, parameters), config, 1, 1, cache);
    return cache;
}

}  // namespace

Tensor language_logits(const Scope& scope, const ModelConfig& config, Tensor tokens, KeyValueCache* cache,
                       bool last_only) {
    const Features made = features(scope, config, tokens, cache, last_only);
    return logits_of(made, made.features);
}

Tensor language_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, std::int64_t length,
                     const LossTerms& terms) {
    const TensorType type{DType::i32, {batch, length}};
    const Tensor tokens = scope.graph().input("tokens", type), targets = scope.graph().input("targets", type);
    return mean_loss(scope, features(scope, config, tokens, nullptr, false), targets, terms);
}

Tensor language_evaluation(const Scope& scope, const ModelConfig& config, std::int64_t batch, std::int64_t length) {
    const TensorType type{DType::i32, {batch, length}};
    const Tensor tokens = scope.graph().input("tokens", type), targets = scope.graph().input("targets", type);
    const Features made = features(scope, config, tokens, nullptr, false);
    if (!config.family().generates()) scope.graph().output("likeliest", likeliest(made));
    return mean_loss(scope, made, targets, {});
}

Objective language_objective(const ModelConfig& config, std::vector<std::int32_t> special) {
    const auto objective = std::get<LanguageGraph>(config.family().graph).objective;
    if (!objective) return {};
    return [config, objective, special = std::move(special)](Batch& batch, Random& random) {
        objective(config, special, batch, random);
    };
}

void prefill_chunk(const Scope& scope, const ModelConfig& config, std::int64_t length, Format activations,
                   std::int64_t rows, std::int64_t capacity) {
    KeyValueCache cache = cache_of(scope.graph(), config, length, activations, rows, capacity);
    scope.graph().output("logits", cached_logits(scope, config, length, rows, cache));
}

void decode_step(const Scope& scope, const ModelConfig& config, Format activations, std::int64_t rows,
                 std::int64_t capacity) {
    Graph& graph = scope.graph();
    KeyValueCache cache = cache_of(graph, config, 1, activations, rows, capacity);
    const Tensor logits = cached_logits(scope, config, 1, rows, cache);
    const Tensor how = graph.input("sampling", {DType::i32, {rows, SampleRow::words}});
    const Tensor seen = graph.input("seen", {DType::i32, {rows, seen_words(logits.width())}});
    const auto [drawn, probabilities] = sample(logits, how, seen);
    graph.output("drawn", drawn);
    graph.output("probabilities", probabilities);
}

void copy_cache_row(Graph& graph, const ModelConfig& config, Format activations, std::int64_t rows) {
    Graph described;
    const KeyValueCache one = cache_of_one(described, config, activations);
    const Tensor place = graph.input("place", {DType::i32, {2}});
    for (const CachedState& state : one.states) kv_cache_copy(state.in(graph, rows), state.in(graph, 1), place);
}

bool cache_keeps_positions(const ModelConfig& config) {
    Graph graph;
    const KeyValueCache one = cache_of_one(graph, config, Format::f32);
    return std::ranges::all_of(one.states, [&](const CachedState& state) { return state.positions == one.capacity; });
}

std::int64_t cache_bytes(const ModelConfig& config, Format activations) {
    Graph graph;
    const KeyValueCache one = cache_of_one(graph, config, activations);
    std::int64_t bytes = 0;
    for (const CachedState& state : one.states) bytes += state.bytes_of_row();
    return bytes;
}

}  // namespace vkf
