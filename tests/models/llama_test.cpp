#include "models/families/llama.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "device_fixture.h"
#include "graph/reference.h"
#include "models/files/config_json.h"
#include "models/train/trainer.h"
#include "scratch.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

Parameters parameters_of(const ModelConfig& config) {
    Graph graph;
    Parameters made;
    language_loss(Scope(graph, made), config, 1, 1);
    return made;
}

/// Configuration of a config.json with these keys; all others have the defaults of Hugging Face's class.
ModelConfig parsed(const std::string& keys) {
    const std::string sizes = R"("vocab_size": 17, "max_position_embeddings": 12, "hidden_size": 24,
        "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 3)";
    return parse_config_json(R"({"model_type": "llama", )" + sizes + (keys.empty() ? "" : ", ") + keys + "}", "config");
}

RopeScaling scaling_of(const std::string& keys) {
    return parsed(keys).as<LlamaConfig>().rope_scaling.as<RopeScaling>();
}

TEST(HostLlama, PublishedModelsHaveTheirNumbersOfParameters) {
    LlamaConfig paper = llama_family().fresh().as<LlamaConfig>();
    paper.vocab_size = 50304;
    EXPECT_EQ(parameters_of(paper).count(), 181'095'168);
    paper.attention = AttentionConfig("belief-star");
    EXPECT_EQ(parameters_of(paper).count(), 188'173'056);
    // SmolLM2-135M
    const ModelConfig small = parse_config_json(
        R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "hidden_act":
            "silu", "hidden_size": 576, "intermediate_size": 1536, "is_llama_config": true, "max_position_embeddings":
            8192, "mlp_bias": false, "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
            "num_key_value_heads": 3, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": false,
            "rope_scaling": null, "rope_theta": 100000, "tie_word_embeddings": true, "vocab_size": 49152})",
        "config");
    EXPECT_EQ(parameters_of(small).count(), 134'515'008);
}

TEST(HostLlama, ParametersHaveHuggingFacesNames) {
    const ModelConfig config = parsed(R"("attention_bias": true, "attention": {"variant": "belief-star"})");
    std::set<std::string> names;
    const Parameters made = parameters_of(config);
    for (const Parameter& parameter : made.list()) names.insert(parameter.name);
    for (const char* name : {"model.embed_tokens.weight", "model.layers.0.self_attn.q_proj.weight",
                             "model.layers.1.self_attn.k_proj.bias", "model.layers.1.self_attn.v_proj.weight",
                             "model.layers.1.self_attn.o_proj.bias", "model.layers.1.self_attn.o_proj_s.weight",
                             "model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight",
                             "model.layers.0.mlp.down_proj.weight", "model.layers.0.input_layernorm.weight",
                             "model.layers.1.post_attention_layernorm.weight", "model.norm.weight", "lm_head.weight"})
        EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_FALSE(names.contains("model.layers.0.mlp.gate_proj.bias"));
    EXPECT_FALSE(names.contains("model.layers.1.self_attn.o_proj_s.bias"));
}

TEST(HostLlama, BeginsAsThePublishedOne) {
    const Parameters made = parameters_of(parsed(""));
    for (const Parameter& parameter : made.list()) {
        const bool norm = parameter.shape.rank() == 1;
        EXPECT_EQ(parameter.init.kind, norm ? Init::Kind::constant : Init::Kind::normal) << parameter.name;
        EXPECT_EQ(parameter.init.value, norm ? 1.0f : 0.02f) << parameter.name;
    }
}

TEST(HostLlama, KeysOfOtherScalingsAreReadWhereTheyAskForNothing) {
    const RopeScaling linear{.type = RopeScaling::Type::linear, .factor = 2};
    EXPECT_EQ(scaling_of(R"("rope_scaling": {"rope_type": "default", "factor": 1.0, "beta_fast": 32, "beta_slow": 1,
                            "attention_factor": null, "original_max_position_embeddings": 4096})"),
              RopeScaling());
    EXPECT_EQ(scaling_of(R"("rope_scaling": {"type": "linear", "factor": 2.0, "low_freq_factor": 1, "mscale": 1.0,
                            "original_max_position_embeddings": 4096})"),
              linear);
    for (const char* key : {R"("factor": 2.0)", R"("attention_factor": 0.5)", R"("long_factor": [1.0])"})
        EXPECT_THROW(scaling_of(R"("rope_scaling": {"rope_type": "default", )" + std::string(key) + "}"), InputError)
            << key;
}

TEST(HostLlama, ScalingIsReadInEverySpellingAndWritten) {
    using Type = RopeScaling::Type;
    EXPECT_EQ(scaling_of("").type, Type::unscaled);
    EXPECT_EQ(scaling_of(R"("rope_scaling": null)").type, Type::unscaled);
    const RopeScaling linear{.type = Type::linear, .factor = 2.5f};
    EXPECT_EQ(scaling_of(R"("rope_scaling": {"type": "linear", "factor": 2.5})"), linear);
    EXPECT_EQ(scaling_of(R"("rope_scaling": {"type": "linear", "rope_type": "linear", "factor": 2.5})"), linear);
    const RopeScaling llama3{.type = Type::llama3, .factor = 32, .original_max_position_embeddings = 4096};
    const std::string numbers = R"("factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
        "original_max_position_embeddings": 4096, "rope_type": "llama3")";
    EXPECT_EQ(scaling_of("\"rope_scaling\": {" + numbers + "}"), llama3);
    const ModelConfig newer = parsed("\"rope_parameters\": {" + numbers + ", \"rope_theta\": 500000.0}");
    EXPECT_EQ(newer.as<LlamaConfig>().rope_scaling.as<RopeScaling>(), llama3);
    EXPECT_EQ(newer.as<LlamaConfig>().rope_theta, 5e5f);
    const ModelConfig plain = parsed(R"("rope_parameters": {"rope_type": "default", "rope_theta": 20000})");
    EXPECT_EQ(plain.as<LlamaConfig>().rope_theta, 2e4f);
    for (const ModelConfig& config : {newer, plain}) {
        const std::string written = config_json_text(config);
        EXPECT_EQ(config_json_text(parse_config_json(written, "written")), written);
    }
    EXPECT_NE(config_json_text(newer).find("llama3"), std::string::npos);
    EXPECT_EQ(config_json_text(plain).find("rope_scaling"), std::string::npos);
}

TEST(HostLlama, SaysWhatItCannotRead) {
    const auto expect = [](const std::string& keys, const std::string& words) {
        const std::string found = complaint([&] { parsed(keys); });
        EXPECT_NE(found.find(words), std::string::npos) << keys << ": " << found;
    };
    expect(R"("hidden_act": "swish2")", "hidden_act is 'swish2', wanted gelu, gelu_new, relu, silu,");
    expect(R"("rope_scaling": {"rope_type": "yarn", "factor": 4.0})", "rope_type is 'yarn', wanted default, linear or");
    expect(R"("rope_scaling": {"type": "linear"})", "rope_scaling: key 'factor' is missing");
    expect(R"("rope_scaling": {"type": "linear", "factor": 0.5})", "rope_scaling.factor is 0.5");
    expect(R"("rope_scaling": {"type": "linear", "factor": 2, "beta_fast": 16})", "unknown key 'beta_fast'");
    expect(R"("rope_scaling": 8)", "rope_scaling");
    expect(R"("rope_theta": 0)", "rope_theta is 0");
    expect(R"("quantization_config": {"quant_method": "bitsandbytes"})", "quantization_config");
    expect(R"("num_key_value_heads": 2)", "num_attention_heads 3 is not divisible by num_key_value_heads 2");
    expect(R"("head_dim": 5)", "head_dim is 5, wanted a multiple of 2");
    expect(R"("head_dim": 6, "attention": {"variant": "differential"})", "head_dim is 6, wanted a multiple of 4");
}

/// Rotary positions are relative: logits depend on the distances between tokens, but in a model of one layer a shift of
/// all positions changes nothing. A cache lets the positions begin later.
TEST(HostLlama, ScoresDependOnDistancesAlone) {
    LlamaConfig c = parsed(R"("num_key_value_heads": 1)").as<LlamaConfig>();
    c.num_hidden_layers = 1;
    Graph graph;
    Parameters parameters;
    const Tensor tokens = graph.input("tokens", {DType::i32, {1, 3}});
    KeyValueCache cache{.lengths = graph.input("lengths", {DType::i32, {1}}),
                        .positions = graph.input("positions", {DType::i32, {3}}),
                        .capacity = 12};
    graph.output("logits", language_logits(Scope(graph, parameters), c, tokens, &cache));
    Arrays leaves{{"tokens", {{1, 3}, {3, 1, 4}}}, {"lengths", {{1}, {3}}}};
    for (const Parameter& parameter : parameters.list()) {
        const std::vector<float> values = initial_values(parameter, 5);
        leaves[parameter.name] = {parameter.shape, {values.begin(), values.end()}};
    }
    for (const Storage& storage : graph.storages())
        if (storage.role == Role::state && !leaves.contains(storage.name))
            leaves[storage.name] = {storage.type.shape, std::vector<double>(storage.type.shape.elements())};
    for (const char* name : {"q_proj", "k_proj"})  // so that scores matter
        for (double& weight : leaves[std::string("model.layers.0.self_attn.") + name + ".weight"].at) weight *= 50;
    const auto logits = [&](std::vector<double> positions) {
        leaves["positions"] = {{3}, std::move(positions)};
        return interpret(graph, leaves).at("logits").at;
    };
    const auto near = logits({0, 1, 2}), shifted = logits({5, 6, 7}), spread = logits({0, 3, 7});
    double moved = 0, same = 0;
    for (std::size_t i = 0; i < near.size(); ++i) {
        same = std::max(same, std::abs(near[i] - shifted[i]));
        moved = std::max(moved, std::abs(near[i] - spread[i]));
    }
    EXPECT_GT(moved, 1e-3);
    EXPECT_LT(same, 1e-4 * moved);  // the fp32 table's rounding, seven digits, times scores of some tens
}

/// Losses of this many steps on one batch.
std::vector<double> losses_of(std::string_view variant, TrainerConfig config, std::int64_t steps) {
    LlamaConfig c = parsed(R"("num_key_value_heads": 1)").as<LlamaConfig>();
    c.attention = attention_of(variant, 3.0f);
    config.optimizer.weight_decay = 0;
    const auto loss = [&](const Scope& scope) { return language_loss(scope, c, 2, 12); };
    Trainer trainer(shared_device(), loss, loss, config);
    const Batch batch = tiny_batch();
    std::vector<double> losses;
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    for (std::int64_t it = 0; it < steps; ++it) losses.push_back(trainer.step(it, 1e-2, feed).loss);
    return losses;
}

TEST(DeviceLlama, LearnsOneBatchByHeart) {
    EXPECT_LT(losses_of("standard", {}, 150).back(), 0.05);
    EXPECT_LT(losses_of("belief-star", {.activations = Format::bf16}, 150).back(), 0.05);
}

TEST(DeviceLlama, ComputesBlocksAgainToTheSameBits) {
    TrainerConfig config;
    config.dropout = 0.2f;
    const std::vector<double> kept = losses_of("belief", config, 5);
    config.recompute = true;
    EXPECT_EQ(losses_of("belief", config, 5), kept);
}

}  // namespace
}  // namespace vkf::test
