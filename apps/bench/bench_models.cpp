#include "apps/bench/bench_models.h"

#include <algorithm>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/option_values.h"
#include "apps/tasks.h"
#include "base/random.h"
#include "models/files/config_json.h"
#include "models/image_model.h"
#include "models/language_model.h"
#include "models/sequence_model.h"
#include "models/translation_model.h"

namespace vkf {

namespace {

constexpr BenchEntry ENTRIES[] = {
    // configs/shakespeare-char-cpu.toml
    {"small-gpt", "small GPT", 12, 64,
     R"({"model_type": "gpt2", "vocab_size": 65, "n_positions": 64, "n_embd": 128, "n_layer": 4, "n_head": 4,
         "activation_function": "gelu", "bias": false})"},
    // the plain one of the two published recipes
    {"vit", "ViT", 128, 0,
     R"({"model_type": "vit", "image_size": 32, "patch_size": 4, "hidden_size": 192, "num_hidden_layers": 9,
         "num_attention_heads": 12, "intermediate_size": 384, "layer_norm_eps": 1e-5, "qkv_bias": false,
         "num_labels": 10})"},
    {"gpt2", "GPT-2 124M", 1, 256,
     R"({"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12,
         "n_head": 12})"},
    {"smollm2", "SmolLM2 135M", 1, 128,
     R"({"model_type": "llama", "vocab_size": 49152, "max_position_embeddings": 8192, "hidden_size": 576,
         "intermediate_size": 1536, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
         "rms_norm_eps": 1e-5, "rope_theta": 100000, "tie_word_embeddings": true})"},
    // configs/multi30k-cpu.toml, with pairs of medium length
    {"multi30k", "Multi30k", 256, 16,
     R"({"model_type": "marian", "vocab_size": 9744, "max_position_embeddings": 256, "d_model": 128,
         "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
         "encoder_ffn_dim": 256, "decoder_ffn_dim": 256, "activation_function": "relu", "scale_embedding": true,
         "position_embedding_type": "sinusoidal_interleaved", "decoder_start_token_id": 0, "eos_token_id": 2,
         "pad_token_id": 1})"},
    // vit_small_patch16_224 of timm
    {"vit-small", "ViT-small", 8, 0,
     R"({"model_type": "vit", "image_size": 224, "patch_size": 16, "hidden_size": 384, "num_hidden_layers": 12,
         "num_attention_heads": 6, "intermediate_size": 1536, "layer_norm_eps": 1e-6, "num_labels": 1000})"},
};

ModelConfig config_of(const BenchEntry& entry) {
    return parse_config_json(entry.config, entry.name);
}

}  // namespace

BenchModel bench_language(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size) {
    const std::int64_t batch = size.batch ? size.batch : entry.batch, length = size.length ? size.length : entry.length;
    return {.name = entry.name,
            .title = entry.title,
            .config = config,
            .shape = text(batch, 'x', length, " tokens"),
            .item = "token",
            .items = static_cast<double>(batch * length),
            .loss = [=](const Scope& scope) { return language_loss(scope, config, batch, length); },
            .fill =
                [tokens = random_tokens(batch * length, config.size(Dimension::vocab_size))](Program& program) {
                    program.write("tokens", tokens);
                    program.write("targets", tokens);
                }};
}

BenchModel bench_images(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size) {
    const std::int64_t batch = size.batch ? size.batch : entry.batch, labels = config.size(Dimension::classes);
    const auto pixels = static_cast<std::size_t>(image_type(config, batch).shape.elements());
    const auto images = std::make_shared<std::vector<float>>();  // drawn when they are first needed
    const std::vector<float> targets(static_cast<std::size_t>(batch * labels), 1.0f / static_cast<float>(labels));
    return {.name = entry.name,
            .title = entry.title,
            .config = config,
            .shape = text(batch, " images"),
            .item = "image",
            .items = static_cast<double>(batch),
            .loss = [=](const Scope& scope) { return image_loss(scope, config, batch); },
            .fill =
                [pixels, images, targets](Program& program) {
                    Random random(1, "images");
                    while (images->size() < pixels) images->push_back(2 * random.uniform() - 1);
                    program.write("images", *images);
                    program.write("targets", targets);
                }};
}

BenchModel bench_translation(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size) {
    const std::int64_t batch = size.batch ? size.batch : entry.batch, length = size.length ? size.length : entry.length;
    const TranslationTokens tokens = translation_tokens(config);
    const std::vector<std::int32_t> lengths(static_cast<std::size_t>(batch), static_cast<std::int32_t>(length));
    return {.name = entry.name,
            .title = entry.title,
            .config = config,
            .shape = text(batch, 'x', length, " pairs of tokens"),
            .item = "target token",
            .items = static_cast<double>(batch * length),
            .loss =
                [=](const Scope& scope) {
                    return translation_loss(scope, config, {batch, length, length});
                },
            .fill =
                [lengths, source = random_tokens(batch * length, tokens.source_vocabulary),
                 target = random_tokens(batch * length, tokens.target_vocabulary)](Program& program) {
                    program.write("source_tokens", source);
                    program.write("source_lengths", lengths);
                    program.write("tokens", target);
                    program.write("targets", target);
                    program.write("target_lengths", lengths);
                }};
}

BenchModel bench_sequences(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size) {
    const std::int64_t batch = size.batch ? size.batch : entry.batch, length = size.length ? size.length : entry.length;
    const std::vector<std::int32_t> lengths(static_cast<std::size_t>(batch), static_cast<std::int32_t>(length));
    return {.name = entry.name,
            .title = entry.title,
            .config = config,
            .shape = text(batch, 'x', length, " tokens"),
            .item = "sequence",
            .items = static_cast<double>(batch),
            .loss =
                [=](const Scope& scope) {
                    return sequence_loss(scope, config, {batch, length});
                },
            .fill =
                [lengths, tokens = random_tokens(batch * length, config.size(Dimension::vocab_size)),
                 targets = random_tokens(batch, config.size(Dimension::classes))](Program& program) {
                    program.write("tokens", tokens);
                    program.write("lengths", lengths);
                    program.write("targets", targets);
                }};
}

std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocabulary) {
    Random random(1, "tokens");
    std::vector<std::int32_t> made(static_cast<std::size_t>(count));
    for (std::int32_t& token : made)
        token = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary)));
    return made;
}

Parameters BenchModel::parameters() const {
    Graph graph;
    Parameters made;
    loss(Scope(graph, made));
    return made;
}

std::vector<std::string> bench_model_names(bool generating) {
    std::vector<std::string> names;
    for (const BenchEntry& entry : ENTRIES)
        if (!generating || config_of(entry).family().generates()) names.emplace_back(entry.name);
    return names;
}

std::vector<BenchModel> bench_models(const std::string& attention, const BatchSize& size, const std::string& name) {
    variant_named(attention);
    std::vector<BenchModel> models;
    for (const BenchEntry& entry : ENTRIES) {
        if (!name.empty() && name != entry.name) continue;
        ModelConfig config = config_of(entry);
        config.attention().set_variant(attention);
        models.push_back(commands_of(config.family().task()).bench(entry, config, size));
        models.back().attention = attention;
    }
    return models;
}

void BatchSize::declare(cli::Command& app, const std::string& of_batch, const std::string& of_block) {
    app.add_option("--batch-size", batch, of_batch).type_name("N").check(whole(1, 1 << 20));
    app.add_option("--block-size", length, of_block).type_name("N").check(whole(1, 1 << 20));
}

std::vector<BenchModel> chosen_models(const std::string& name, const std::string& attention, const BatchSize& size) {
    std::vector<BenchModel> models = bench_models(attention, size, name);
    require(!models.empty(), "--model is '", name, "', wanted ", joined(bench_model_names(), ", "));
    if (size.length == 0) return models;
    const auto context = [](const BenchModel& model) {
        return model.config.has(Dimension::context) ? model.config.size(Dimension::context) : std::int64_t{0};
    };
    const auto longest = std::ranges::max(models, {}, context);
    require(size.length <= context(longest), "--block-size is ", size.length, ", ", longest.title, " has ",
            context(longest) > 0 ? text("a context of ", context(longest)) : "no sequences");
    std::erase_if(models, [&](const BenchModel& model) { return size.length > context(model); });
    return models;
}

}  // namespace vkf
