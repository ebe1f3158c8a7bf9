#include "models/translation_model.h"

#include <algorithm>

#include "base/error.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/kv_cache.h"

namespace vkf {

const Task& translation_task() {
    static const Task task{.model = "translation model", .sizes = {Dimension::vocab_size, Dimension::context}};
    return task;
}

namespace {

const TranslationGraph& graph_of(const ModelConfig& config) {
    return std::get<TranslationGraph>(config.family().graph);
}

void require_room(const ModelConfig& config, const Sentences& sentences) {
    const Size context = config.size(Dimension::context);
    const std::int64_t length = sentences.tokens.shape()[1];
    require(length <= context, "a sentence of ", length, " tokens exceeds ", context.key, " ", context.value);
}

Features features(const Scope& scope, const ModelConfig& config, const Sentences& source, const Sentences& target) {
    validate(config);
    require_room(config, source);
    require_room(config, target);
    const SourceMemory memory = graph_of(config).read(scope, config, source);
    return graph_of(config).features(scope, config, memory, target, nullptr);
}

Sentences sentences(Graph& graph, const char* tokens, const char* lengths, std::int64_t rows, std::int64_t length) {
    return {graph.input(tokens, {DType::i32, {rows, length}}), graph.input(lengths, {DType::i32, {rows}})};
}

/// States of the decoder's memory, with room for the longest source. `layers` has the widths of keys and values.
std::vector<KeysAndValues> memory_states(Graph& graph, const std::vector<KeysAndValues>& layers,
                                         const WritingShape& shape, Format activations) {
    std::vector<KeysAndValues> states;
    for (const KeysAndValues& layer : layers) {
        const auto state = [&](std::string_view name, std::int64_t width) {
            return graph.state(text("memory ", states.size(), ' ', name),
                               {DType::f32, {shape.sources, shape.source, width}},
                               width % 2 == 0 ? activations : Format::f32);
        };
        states.push_back({state("keys", layer.keys.width()), state("values", layer.values.width())});
    }
    return states;
}

}  // namespace

TranslationTokens translation_tokens(const ModelConfig& config) {
    const TranslationTokens tokens = graph_of(config).tokens(config);
    const std::int64_t rows = std::min(tokens.source_vocabulary, tokens.target_vocabulary);
    require(tokens.begin < tokens.target_vocabulary && tokens.end < rows, "targets begin with token ", tokens.begin,
            " and end with token ", tokens.end, ", but the vocabularies have ", tokens.source_vocabulary, " and ",
            tokens.target_vocabulary, " tokens");
    return tokens;
}

Tensor translation_logits(const Scope& scope, const ModelConfig& config, const Sentences& source,
                          const Sentences& target) {
    const Features made = features(scope, config, source, target);
    return matmul(made.features, made.table, {.transpose_b = true});
}

Tensor translation_loss(const Scope& scope, const ModelConfig& config, const Sentences& source, const Sentences& target,
                        Tensor targets, const LossTerms& terms) {
    const Features made = features(scope, config, source, target);
    return head_loss(made.features, made.table, targets, {.d_loss = scope.d_loss(), .terms = terms});
}

Tensor translation_loss(const Scope& scope, const ModelConfig& config, const PairShape& shape, const LossTerms& terms) {
    Graph& graph = scope.graph();
    const Sentences source = sentences(graph, "source_tokens", "source_lengths", shape.rows, shape.source);
    const Sentences target = sentences(graph, "tokens", "target_lengths", shape.rows, shape.target);
    const Tensor targets = graph.input("targets", {DType::i32, {shape.rows, shape.target}});
    return translation_loss(scope, config, source, target, targets, terms);
}

void read_sources(const Scope& scope, const ModelConfig& config, const WritingShape& shape, std::int64_t length,
                  Format activations) {
    validate(config);
    Graph& graph = scope.graph();
    const Sentences source = sentences(graph, "source_tokens", "source_lengths", shape.sources, length);
    require_room(config, source);
    const SourceMemory memory = graph_of(config).read(scope, config, source);
    const std::vector<KeysAndValues> states = memory_states(graph, memory.layers, shape, activations);
    // All rows of a source are appended to none.
    const std::vector<std::int32_t> whole{static_cast<std::int32_t>(length)};
    const Tensor lengths = graph.constant({1}, whole);
    for (std::size_t i = 0; i < states.size(); ++i) kv_cache_append(states[i], memory.layers[i], lengths);
}

void write_step(const Scope& scope, const ModelConfig& config, const WritingShape& shape, Format activations) {
    validate(config);
    Graph& graph = scope.graph();
    const std::int64_t rows = shape.rows();
    // A graph of its own tells the widths.
    Graph described;
    Parameters parameters;
    const Sentences one = sentences(described, "source_tokens", "source_lengths", 1, 1);
    const SourceMemory widths = graph_of(config).read(Scope(described, parameters), config, one);
    const SourceMemory memory{memory_states(graph, widths.layers, shape, activations),
                              graph.input("source_lengths", {DType::i32, {shape.sources}})};
    KeyValueCache cache{.lengths = graph.input("lengths", {DType::i32, {rows}}),
                        .positions = graph.input("positions", {DType::i32, {rows, 1}}),
                        .capacity = shape.target,
                        .format = activations};
    if (shape.beams > 1)
        cache.beams = {.count = shape.beams,
                       .parents = graph.input("parents", {DType::i32, {rows}}),
                       .filled = graph.input("filled", {DType::i32, {shape.sources}})};
    const Sentences target{graph.input("tokens", {DType::i32, {rows, 1}}), {}};
    const Features made = graph_of(config).features(scope, config, memory, target, &cache);
    graph.output("logits", matmul(made.features, made.table, {.transpose_b = true}));
}

}  // namespace vkf
