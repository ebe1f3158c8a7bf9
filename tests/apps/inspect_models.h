// Small models of every family that `inspect` describes by formulas, and their exact numbers.
#pragma once

#include <string>
#include <vector>

#include "apps/inspect/analysis.h"
#include "apps/inspect/inspect.h"
#include "models/families/accounting.h"
#include "models/families/bert.h"
#include "models/families/bert_classifier.h"
#include "models/families/family.h"
#include "models/families/gpt2.h"
#include "models/families/llama.h"
#include "models/families/marian.h"
#include "models/families/nano_gpt2.h"
#include "models/families/vit.h"

namespace vkf::test {

inline InspectedModel inspected_gpt2(const char* variant = "standard", const char* kind = "full") {
    Gpt2Config c{.vocab_size = 90, .n_positions = 32, .n_embd = 48, .n_layer = 3, .n_head = 3};
    c.attention.set_variant(variant);
    c.attention.set_kind(kind);
    return inspected_language(c, {.rows = 2, .length = 32}, Format::f32);
}

inline InspectedModel inspected_llama() {
    return inspected_language(LlamaConfig{.vocab_size = 90,
                                          .max_position_embeddings = 32,
                                          .hidden_size = 48,
                                          .intermediate_size = 80,
                                          .num_hidden_layers = 3,
                                          .num_attention_heads = 6,
                                          .num_key_value_heads = 2},
                              {.rows = 2, .length = 32}, Format::f32);
}

/// A small encoder.
template <class Config>
Config small_bert() {
    Config c;
    c.vocab_size = 90, c.max_position_embeddings = 32, c.hidden_size = 48, c.intermediate_size = 100;
    c.num_hidden_layers = 3, c.num_attention_heads = 3;
    return c;
}

inline InspectedModel inspected_bert() {
    return inspected_language(small_bert<BertConfig>(), {.rows = 2, .length = 32}, Format::f32);
}

inline InspectedModel inspected_bert_classifier() {
    return inspected_sequences(small_bert<BertClassifierConfig>(), {.rows = 2, .length = 32});
}

inline InspectedModel inspected_nano_gpt2() {
    NanoGpt2Config c;
    c.vocab_size = 90, c.n_positions = 32, c.n_embd = 48, c.n_layer = 3, c.n_head = 3;
    return inspected_language(c, {.rows = 2, .length = 32}, Format::f32);
}

inline InspectedModel inspected_vit() {
    VitConfig c;
    c.image_size = 16, c.patch_size = 4, c.hidden_size = 48, c.num_hidden_layers = 3, c.num_attention_heads = 3;
    c.intermediate_size = 96, c.num_labels = 10;
    return inspected_images(c, 2);
}

inline InspectedModel inspected_marian(bool pre_norm = false) {
    MarianConfig c;
    c.set_tokens({.source_vocabulary = 90, .target_vocabulary = 90, .shared = true, .begin = 1, .end = 0});
    c.max_position_embeddings = 32, c.d_model = 48, c.encoder_layers = 3, c.decoder_layers = 2;
    c.encoder_attention_heads = 3, c.decoder_attention_heads = 6, c.encoder_ffn_dim = 100, c.decoder_ffn_dim = 60;
    c.normalize_before = pre_norm;
    return inspected_translation(c, {.rows = 2, .length = 32});
}

inline std::vector<InspectedModel> inspected_models() {
    return {inspected_gpt2(),      inspected_llama(), inspected_bert(),   inspected_bert_classifier(),
            inspected_nano_gpt2(), inspected_vit(),   inspected_marian(), inspected_marian(true)};
}

/// Graphs of a model and their exact numbers, for no device.
struct ExactModel {
    Parameters parameters;
    Analysis forward, step;

    explicit ExactModel(const InspectedModel& model) {
        Graph graph;
        graph.activations = model.trainer.activations;
        graph.output("logits", model.task->logits(Scope(graph, parameters), model.config, model.sizes));
        forward = analyse(graph, DeviceTraits());
        StepGraphs training(model.loss(), model.trainer);
        step = analyse(training, DeviceTraits());
    }
};

}  // namespace vkf::test
