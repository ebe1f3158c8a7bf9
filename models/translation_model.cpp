#include "models/translation_model.h"

#include <algorithm>

#include "base/error.h"
#include "models/attention/attention_taps.h"
#include "models/logits.h"
#include "ops/movement/kv_cache.h"
#include "ops/movement/view.h"

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

/// States of the graph for a memory of these widths, with room for the longest source: keys and values [sources,
/// source, …], states of whole sources [sources, 1, …].
SourceMemory memory_states(Graph& graph, const SourceMemory& widths, const WritingShape& shape, Format activations) {
    SourceMemory made;
    for (const KeysAndValues& layer : widths.layers) {
        const auto state = [&](std::string_view name, std::int64_t width) {
            return graph.state(text("memory ", made.layers.size(), ' ', name),
                               {DType::f32, {shape.sources, shape.source, width}},
                               width % 2 == 0 ? activations : Format::f32);
        };
        made.layers.push_back({state("keys", layer.keys.width()), state("values", layer.values.width())});
    }
    for (const Tensor whole : widths.states)
        made.states.push_back(
            graph.state(text("memory state ", made.states.size()), {DType::f32, {shape.sources, 1, whole.width()}}));
    return made;
}

/// A tensor of one row per position, of which all are appended to none.
Tensor all_rows(Tensor x) {
    const std::vector<std::int32_t> count{static_cast<std::int32_t>(x.shape()[1])};
    return x.graph().constant({1}, count);
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
    return logits_of(made, made.features);
}

std::vector<Tensor> cross_attention_weights(const Scope& scope, const ModelConfig& config, std::int64_t source,
                                            std::int64_t target) {
    Taps taps{.names = {std::string(tap::cross_weights)}};
    Graph& graph = scope.graph();
    features(scope.with_taps(&taps), config, sentences(graph, "source_tokens", "source_lengths", 1, source),
             sentences(graph, "tokens", "target_lengths", 1, target));
    std::vector<Tensor> weights;
    for (const Tapped& layer : taps.found) weights.push_back(layer.tensor);
    return weights;
}

Tensor translation_loss(const Scope& scope, const ModelConfig& config, const Sentences& source, const Sentences& target,
                        Tensor targets, const LossTerms& terms) {
    return mean_loss(scope, features(scope, config, source, target), targets, terms);
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
    const SourceMemory states = memory_states(graph, memory, shape, activations);
    for (std::size_t i = 0; i < states.layers.size(); ++i)
        kv_cache_append(states.layers[i], memory.layers[i], all_rows(memory.layers[i].keys));
    for (std::size_t i = 0; i < states.states.size(); ++i) {
        const Tensor whole = reshape(memory.states[i], states.states[i].shape());
        kv_cache_append(states.states[i], whole, all_rows(whole));
    }
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
    SourceMemory memory = memory_states(graph, widths, shape, activations);
    memory.lengths = graph.input("source_lengths", {DType::i32, {shape.sources}});
    for (Tensor& state : memory.states) state = reshape(state, {shape.sources, state.width()});
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
    graph.output("logits", logits_of(made, made.features));
}

}  // namespace vkf
