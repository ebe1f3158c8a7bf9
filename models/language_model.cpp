#include "models/language_model.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "ops/head_loss.h"
#include "ops/kv_cache.h"
#include "ops/matmul.h"
#include "ops/sample.h"

namespace vkf {

namespace {

Features features(const Scope& scope, const ModelConfig& config, Tensor tokens, const KeyValueCache* cache,
                  bool last_only) {
    validate(config);
    const Size context = config.size(Dimension::context);
    const std::int64_t length = tokens.shape()[1];
    require(length <= context, "a sequence of ", length, " tokens exceeds ", context.key, " ", context.value);
    const Scope adapted = scope.with_adapters(config.adapters() ? &*config.adapters() : nullptr);
    return std::get<LanguageGraph>(config.family().graph).features(adapted, config, tokens, cache, last_only);
}

/// Of the tokens that follow what is read into the cache, [rows, 1, V].
Tensor cached_logits(const Scope& scope, const ModelConfig& config, std::int64_t length, Format activations,
                     std::int64_t rows, std::int64_t capacity) {
    Graph& graph = scope.graph();
    const Shape tokens{rows, length}, positions = rows > 1 ? tokens : Shape{length};
    const Tensor read = graph.input("tokens", {DType::i32, tokens});
    const KeyValueCache cache{.lengths = graph.input("lengths", {DType::i32, {rows}}),
                              .positions = graph.input("positions", {DType::i32, positions}),
                              .capacity = capacity > 0 ? capacity : config.size(Dimension::context),
                              .format = activations};
    return language_logits(scope, config, read, &cache, true);
}

std::string rows_name(const std::string& state, std::int64_t rows) {
    return rows == 1 ? state : text(state, " of ", rows);
}

std::vector<Storage> cache_storages(const Graph& graph) {
    std::vector<Storage> found;
    for (const Storage& storage : graph.storages())
        if (storage.name.ends_with(CACHED_KEYS) || storage.name.ends_with(CACHED_VALUES)) found.push_back(storage);
    return found;
}

}  // namespace

Tensor language_logits(const Scope& scope, const ModelConfig& config, Tensor tokens, const KeyValueCache* cache,
                       bool last_only) {
    const Features made = features(scope, config, tokens, cache, last_only);
    return matmul(made.features, made.table, {.transpose_b = true});
}

Tensor language_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, std::int64_t length) {
    const TensorType type{DType::i32, {batch, length}};
    const Tensor tokens = scope.graph().input("tokens", type), targets = scope.graph().input("targets", type);
    const Features made = features(scope, config, tokens, nullptr, false);
    return head_loss(made.features, made.table, targets, {.d_loss = scope.d_loss()});
}

Objective language_objective(const ModelConfig& config) {
    const auto objective = std::get<LanguageGraph>(config.family().graph).objective;
    if (!objective) return {};
    return [config, objective](Batch& batch, Random& random) { objective(config, batch, random); };
}

std::string KeyValueCache::state_name(std::string_view layer, std::string_view which) const {
    return rows_name(text(layer, '.', which), lengths.elements());
}

void prefill_chunk(const Scope& scope, const ModelConfig& config, std::int64_t length, Format activations,
                   std::int64_t rows, std::int64_t capacity) {
    scope.graph().output("logits", cached_logits(scope, config, length, activations, rows, capacity));
}

void decode_step(const Scope& scope, const ModelConfig& config, Format activations, std::int64_t rows,
                 std::int64_t capacity) {
    Graph& graph = scope.graph();
    const Tensor logits = cached_logits(scope, config, 1, activations, rows, capacity);
    const Tensor how = graph.input("sampling", {DType::i32, {rows, SampleRow::words}});
    const Tensor seen = graph.input("seen", {DType::i32, {rows, seen_words(logits.width())}});
    const auto [drawn, probabilities] = sample(logits, how, seen);
    graph.output("drawn", drawn);
    graph.output("probabilities", probabilities);
}

void copy_cache_row(Graph& graph, const Graph& one, std::int64_t rows) {
    const Tensor place = graph.input("place", {DType::i32, {2}});
    for (const Storage& storage : cache_storages(one)) {
        const Tensor from = graph.state(storage.name, storage.type, storage.format);
        const TensorType type{DType::f32, {rows, from.shape()[1], from.shape()[2]}};
        kv_cache_copy(graph.state(rows_name(storage.name, rows), type, storage.format), from, place);
    }
}

std::int64_t cache_bytes(const ModelConfig& config, Format activations) {
    Graph graph;
    Parameters parameters;
    prefill_chunk(Scope(graph, parameters), config, 1, activations);
    std::int64_t bytes = 0;
    for (const Storage& storage : cache_storages(graph)) bytes += storage.bytes();
    return bytes;
}

}  // namespace vkf
