#include "models/families/rnn_encoder_decoder.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/integers.h"
#include "models/attention/attention_taps.h"
#include "models/families/accounting.h"
#include "models/layers.h"
#include "models/recurrent/recurrent_layer.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/embedding.h"
#include "ops/movement/repeat_heads.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

using RnnConfig = RnnEncoderDecoderConfig;

constexpr std::pair<const char*, Cell> CELL_WORDS[] = {{"rnn", Cell::rnn}, {"lstm", Cell::lstm}, {"gru", Cell::gru}};
constexpr std::pair<const char*, AttentionScore> SCORE_WORDS[] = {{"dot", AttentionScore::dot},
                                                                  {"general", AttentionScore::general},
                                                                  {"low_rank", AttentionScore::low_rank},
                                                                  {"additive", AttentionScore::additive}};

Tensor rnn_table(const Scope& scope, const RnnConfig& c, std::int64_t vocabulary) {
    const Init init = Init::normal(1.0f / std::sqrt(static_cast<float>(c.hidden_size)));
    return scope.parameter("weight", {vocabulary, c.hidden_size}, init);
}

Tensor rnn_source_table(const Scope& model, const RnnConfig& c) {
    return rnn_table(c.share_encoder_decoder_embeddings ? model / "shared" : model / "encoder" / "embeddings", c,
                     c.vocab_size);
}

Tensor rnn_target_table(const Scope& model, const RnnConfig& c) {
    if (c.share_encoder_decoder_embeddings) return rnn_source_table(model, c);
    return rnn_table(model / "decoder" / "embeddings", c, c.target_vocabulary());
}

LinearOptions drawn(std::int64_t width, bool bias) {
    const Init init = Init::uniform(1.0f / std::sqrt(static_cast<float>(width)));
    return {.bias = bias, .out_in = true, .init = init};
}

ScoredAttention attention_of(const RnnConfig& c) {
    return {c.attention_score, c.score_rank > 0 ? c.score_rank : c.hidden_size};
}

/// The state of each layer with which the decoder begins: h, and c of an LSTM, of all layers.
std::vector<Tensor> first_states(const Scope& model, const RnnConfig& c, const std::vector<RecurrentState>& last) {
    std::vector<Tensor> states;
    for (std::size_t i = 0; i < last.size(); ++i)
        for (const auto& [part, state] : {std::pair("h", last[i].h), std::pair("c", last[i].c)}) {
            if (!state) continue;
            const Scope map = model / "bridge" / text(part, "_l", i);
            states.push_back(c.bidirectional ? linear(map, state, c.hidden_size, drawn(c.hidden_size, true)) : state);
        }
    return states;
}

SourceMemory rnn_read(const Scope& model, const RnnConfig& c, const Sentences& source) {
    const Scope encoder = model / "encoder";
    const Tensor x = encoder.drop(embedding(rnn_source_table(model, c), source.tokens));
    const EncodedSequence encoded =
        encode(encoder / "rnn", {c.cell, c.num_layers, c.hidden_size, c.bidirectional}, x, source.lengths);
    return {.layers = {keys_and_values(model / "decoder" / "attn", attention_of(c), encoded.outputs)},
            .lengths = source.lengths,
            .states = first_states(model, c, encoded.last)};
}

/// Tensors that the decoder takes from one position to the next.
struct DecoderState {
    std::vector<RecurrentState> layers;  // [R, H]
    Tensor features;                     // [R, 1, H], with input feeding
};

class RnnDecoder {
public:
    RnnDecoder(const Scope& model, const RnnConfig& c, const SourceMemory& memory)
        : c_(c), scope_(model / "decoder"), memory_(memory) {
        for (std::int64_t i = 0; i < c.num_layers; ++i) {
            const std::int64_t inputs = c.input_feeding && i == 0 ? 2 * c.hidden_size : c.hidden_size;
            layers_.push_back(recurrent_layer(scope_ / "rnn", text("l", i), c.cell, inputs, c.hidden_size));
        }
    }

    /// Features of inputs x [R, T, H] that follow on `state`, which becomes that after them.
    Tensor features(Tensor x, DecoderState& state) {
        if (!c_.input_feeding) return attended(scope_, gate_inputs(layers_[0], x), state);
        // The map of [x; features] is the sum of two, of which that of x is made for all positions at once.
        const auto columns = [&](std::int64_t first) { return slice(layers_[0].weight_ih, 1, first, c_.hidden_size); };
        const Tensor of_x = matmul(x, columns(0), {.transpose_b = true, .bias = layers_[0].bias_ih});
        const Tensor of_features = columns(c_.hidden_size);
        std::vector<Tensor> made;
        for (std::int64_t t = 0; t < x.shape()[1]; ++t) {
            const Tensor gates =
                matmul(state.features, of_features, {.transpose_b = true, .addend = slice(of_x, 1, t, 1)});
            state.features = attended(scope_ / text("step", t), gates, state);
            made.push_back(reshape(state.features, {x.shape()[0], c_.hidden_size}));
        }
        return reshape(concat(made), x.shape());
    }

    /// Attention's weights in all features so far, [R, 1, T, S].
    Tensor weights() const {
        const std::int64_t rows = weights_.front().shape()[0], sources = weights_.front().width();
        std::vector<Tensor> flat;  // [R, t·S]
        for (const Tensor part : weights_) flat.push_back(reshape(part, {rows, part.elements() / rows}));
        const Tensor all = concat(flat);
        return reshape(all, {rows, 1, all.width() / sources, sources});
    }

private:
    /// Features of positions with these gates of the lowest layer, made in a region of the graph. Dropout draws its
    /// numbers for the scope.
    Tensor attended(const Scope& draws, Tensor gates, DecoderState& state) {
        const std::size_t first = scope_.graph().nodes().size();
        Tensor s;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            if (i > 0) gates = gate_inputs(layers_[i], (draws / text("l", i)).drop(s));
            const RecurrentSequence made = run(layers_[i], gates, {.initial = state.layers[i]});
            s = made.outputs;
            state.layers[i] = made.last;
        }
        const Scope attention = scope_ / "attn";
        const Attended found = attend(attention, attention_of(c_), s, memory_.layers.at(0), memory_.lengths);
        weights_.push_back(found.weights);
        const Tensor both[] = {found.context, s};
        const Tensor joined = concat(both);
        const Tensor made = activate(
            linear(attention / "linear_out", joined, c_.hidden_size, drawn(joined.width(), false)), Activation::tanh);
        scope_.graph().mark_region(first);
        return made;
    }

    const RnnConfig& c_;
    Scope scope_;
    const SourceMemory& memory_;
    std::vector<RecurrentLayer> layers_;
    std::vector<Tensor> weights_;  // [R, t, S]
};

/// States of the memory for `rows` rows, several of which may belong to one source.
DecoderState beginning(const Scope& model, const RnnConfig& c, const SourceMemory& memory, std::int64_t rows) {
    const auto of_rows = [&](std::size_t i) {
        const Tensor state = memory.states.at(i);
        const std::int64_t repeat = rows / state.shape()[0];
        return repeat == 1 ? state : reshape(repeat_heads(state, 1, repeat), {rows, state.width()});
    };
    DecoderState made;
    const bool has_c = c.cell == Cell::lstm;
    for (std::size_t i = 0; i < memory.states.size(); i += has_c ? 2 : 1)
        made.layers.push_back({.h = of_rows(i), .c = has_c ? of_rows(i + 1) : Tensor()});
    if (c.input_feeding) made.features = fill(model.graph(), {rows, 1, c.hidden_size}, 0.0f);
    return made;
}

/// Tensors of a state that exist.
std::vector<Tensor*> parts(DecoderState& state) {
    std::vector<Tensor*> found;
    for (RecurrentState& layer : state.layers)
        for (Tensor* part : {&layer.h, &layer.c})
            if (*part) found.push_back(part);
    if (state.features) found.push_back(&state.features);
    return found;
}

Features rnn_features(const Scope& model, const RnnConfig& c, const SourceMemory& memory, const Sentences& target,
                      KeyValueCache* cache) {
    const Tensor table = rnn_target_table(model, c);
    const Scope decoder = model / "decoder";
    const Tensor x = decoder.drop(embedding(table, target.tokens));
    DecoderState state = beginning(model, c, memory, target.tokens.shape()[0]);
    std::vector<CarriedState> carried;
    if (cache)
        for (Tensor* part : parts(state)) {
            carried.push_back(cache->carry(decoder / text("state", carried.size()), *part));
            *part = carried.back().value();
        }
    RnnDecoder writer(model, c, memory);
    const Tensor made = (decoder / "attn").drop(writer.features(x, state));
    (decoder / "attn").tap(tap::cross_weights, [&] { return writer.weights(); });
    const std::vector<Tensor*> after = parts(state);
    for (std::size_t i = 0; i < carried.size(); ++i) carried[i].keep(*after[i]);
    return {made, c.tie_word_embeddings ? table : rnn_table(model / "generator", c, c.target_vocabulary())};
}

void rnn_check(const RnnConfig& c) {
    require(!c.bidirectional || c.hidden_size % 2 == 0, "hidden_size is ", c.hidden_size,
            ", wanted an even number for two directions of half the width");
    const bool ranked = c.attention_score == AttentionScore::low_rank || c.attention_score == AttentionScore::additive;
    require(ranked || c.score_rank == 0 || c.score_rank == c.hidden_size, "score_rank is ", c.score_rank,
            ", wanted 0: dot and general scores have no rank");
}

double rnn_matrix_elements(const RnnConfig& c) {
    const double h = static_cast<double>(c.hidden_size), layers = static_cast<double>(c.num_layers);
    const double encoder = layers * static_cast<double>(gates_of(c.cell)) * h * h;  // two directions have fewer: W_hh
    return encoder + h * static_cast<double>(c.vocab_size);
}

/// The formulas are those of attention over tokens, which recurrent layers do not have. A step of the width is two
/// units, one for each direction.
constexpr Accounting RNN_ACCOUNTING{.scale =
                                        [](const ModelConfig& c) {
                                            return ModelScale{c.as<RnnConfig>().num_layers,
                                                              c.as<RnnConfig>().hidden_size / 2,
                                                              c.as<RnnConfig>().hidden_size};
                                        },
                                    .resize =
                                        [](ModelConfig& c, const ModelScale& wanted) {
                                            RnnConfig made = c.as<RnnConfig>();
                                            made.num_layers = wanted.layers;
                                            made.hidden_size = 2 * wanted.heads;
                                            c = made;
                                        }};

RnnConfig fresh_rnn() {
    RnnConfig c;
    c.vocab_size = 0;
    return c;
}

}  // namespace

std::vector<Field> RnnEncoderDecoderConfig::fields() {
    std::vector<Field> all = vocabulary_fields();
    const std::vector<Field> own{
        {.key = "context_length",
         .value = IntRange{&context_length, 1, 1'000'000},
         .help = "tokens of the longest sentence with its end",
         .dimension = Dimension::context},
        {.key = "hidden_size",
         .value = IntRange{&hidden_size, 1, 1'000'000},
         .help = "width of embeddings and states",
         .required = true},
        {.key = "num_layers",
         .value = IntRange{&num_layers, 1, 1'000},
         .help = "recurrent layers of the encoder, and of the decoder",
         .required = true,
         .dimension = Dimension::layers},
        {.key = "cell", .value = choice(cell, CELL_WORDS), .help = "kind of the recurrent layers"},
        {.key = "bidirectional",
         .value = &bidirectional,
         .help = "the encoder reads in both directions, each with half the width"},
        {.key = "attention_score",
         .value = choice(attention_score, SCORE_WORDS),
         .help = "attention's score of a decoder's state s and an encoder's output h: dot sᵀh, general sᵀWh, "
                 "low_rank (Us)ᵀ(Vh) or additive vᵀtanh(Wh + Us)"},
        {.key = "score_rank",
         .value = IntRange{&score_rank, 0, 1'000'000, hidden_size},
         .help = "rows of U of low_rank and additive scores; 0: hidden_size"},
        {.key = "input_feeding",
         .value = &input_feeding,
         .help = "the features of a position are also inputs of the next one"},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

const Family& RnnEncoderDecoderConfig::family() {
    return rnn_encoder_decoder_family();
}

const Family& rnn_encoder_decoder_family() {
    static const Family family{
        .model_type = "rnn-encoder-decoder",
        .command = "translate-rnn",
        .title = "RNN encoder-decoder",
        .architecture = "RnnEncoderDecoder",
        .recipe = "configs/multi30k-rnn-cpu.toml",
        .defaults = [] { return ModelConfig(RnnConfig()); },
        .fresh = [] { return ModelConfig(fresh_rnn()); },
        .check = [](const ModelConfig& c) { rnn_check(c.as<RnnConfig>()); },
        .matrix_elements = [](const ModelConfig& c) { return rnn_matrix_elements(c.as<RnnConfig>()); },
        .graph = translation_graph<RnnConfig, rnn_read, rnn_features>(),
        .accounting = &RNN_ACCOUNTING,
    };
    return family;
}

}  // namespace vkf
