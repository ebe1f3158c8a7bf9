#include "models/language_model.h"

#include "base/error.h"
#include "ops/head_loss.h"
#include "ops/matmul.h"

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

void prefill_chunk(const Scope& scope, const ModelConfig& config, std::int64_t length, Format activations) {
    Graph& graph = scope.graph();
    const Tensor tokens = graph.input("tokens", {DType::i32, {1, length}});
    const KeyValueCache cache{.length = graph.input("length", {DType::i32, {1}}),
                              .positions = graph.input("positions", {DType::i32, {length}}),
                              .capacity = config.size(Dimension::context),
                              .format = activations};
    graph.output("logits", language_logits(scope, config, tokens, &cache, true));
}

std::int64_t cache_bytes(const ModelConfig& config, Format activations) {
    Graph graph;
    Parameters parameters;
    prefill_chunk(Scope(graph, parameters), config, 1, activations);
    std::int64_t bytes = 0;
    for (const Storage& storage : graph.storages())
        if (storage.role == Role::state) bytes += storage.bytes();
    for (const Parameter& parameter : parameters.list()) bytes -= bytes_of(parameter.shape.elements(), Format::f32);
    return bytes;
}

}  // namespace vkf
