// Files of adapters: golden cases, PEFT's files that are refused, and merging.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/model.h"
#include "device_fixture.h"
#include "golden.h"
#include "golden_outputs.h"
#include "models/adapters/adapters.h"
#include "models/families/nano_gpt2.h"
#include "models/files/adapter_files.h"
#include "models/files/merge_adapters.h"
#include "models/files/weights.h"
#include "models/language_model.h"
#include "ops/loss/cross_entropy.h"
#include "program/program.h"
#include "scratch.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

class DeviceLoraGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceLoraGolden, LogitsLossAndGradientsOfAdaptersEqualPyTorchs) {
    const fs::path folder = golden / GetParam();
    const Safetensors expected = Safetensors::open(folder / "case.safetensors");
    const Model model = open_untokenized_model(folder);
    Graph graph;
    Parameters parameters;
    const TensorType type{DType::i32, Shape(expected.at("tokens").shape)};
    const Tensor logits = language_logits(Scope(graph, parameters), model.config, graph.input("tokens", type));
    const Tensor loss = cross_entropy(logits, graph.input("targets", type));
    output_all(graph, parameters, logits, loss);

    State state(shared_device());
    Program program(shared_device(), graph, state);
    model.load(parameters, state);
    program.write("tokens", integers(expected, "tokens"));
    program.write("targets", integers(expected, "targets"));
    program.run();
    for (const Parameter& p : parameters.trained()) EXPECT_TRUE(expected.contains("grad." + p.name)) << p.name;
    expect_golden(expected, [&](const std::string& name) { return program.read(name); });
}

INSTANTIATE_TEST_SUITE_P(Cases, DeviceLoraGolden, ::testing::ValuesIn(golden_cases(false, adapter_config_file)),
                         golden_id);

/// Golden cases of models that do not round their weights.
class DeviceMergedLora : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceMergedLora, ComputesWhatTheAdaptersDid) {
    const fs::path folder = golden / GetParam();
    const Safetensors expected = Safetensors::open(folder / "case.safetensors");
    const Model model = open_untokenized_model(folder);
    const StoredWeights base = StoredWeights::open(model.path / "model.safetensors");
    const StoredWeights adapters = StoredWeights::open(model.adapters);
    const Scratch scratch;
    const fs::path file = scratch.path() / "model.safetensors";
    write_safetensors(file, merged_weights(model.config, base, adapters));

    ModelConfig whole = model.config;
    whole.set_adapters({});
    Graph graph;
    Parameters parameters;
    const TensorType type{DType::i32, Shape(expected.at("tokens").shape)};
    graph.output("logits", language_logits(Scope(graph, parameters), whole, graph.input("tokens", type)));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    load_weights(file, parameters.list(), state);
    program.write("tokens", integers(expected, "tokens"));
    program.run();
    EXPECT_LE(difference(program.read("logits"), expected.read_f32("logits")), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Cases, DeviceMergedLora,
                         ::testing::Values("lora-gpt2", "lora-gpt2-one", "lora-llama", "lora-rslora"), golden_id);

/// Runs merging with all its checks, and drops the result.
void merged(const Model& model) {
    merged_weights(model.config, StoredWeights::open(model.path / "model.safetensors"),
                   StoredWeights::open(model.adapters));
}

TEST(HostLoraFiles, RoundedWeightsAreNotMerged) {
    const Model model = open_untokenized_model(golden / "lora-nano");
    expect_holds(complaint([&] { merged(model); }), "rounds the weights");
}

TEST(HostLoraFiles, ConfigurationIsPeftsAndReadBack) {
    const Scratch scratch;
    const auto read_back = [&](const ModelConfig& model) {
        return read_adapter_config(scratch.file(adapter_config_file, adapter_config_text(model, "the/base")));
    };
    const LoraConfig lora{.rank = 3, .alpha = 1.1f, .rank_stabilized = true, .targets = {"c_attn", "mlp.c_fc"}};
    const AdapterConfig read = read_back(with_adapters(tiny_gpt2("standard"), lora));
    EXPECT_EQ(read.lora, lora);
    EXPECT_EQ(read.base, "the/base");
    EXPECT_EQ(read_json(scratch.path() / adapter_config_file)["fan_in_fan_out"], true);
    read_back(with_adapters(NanoGpt2Config(), {}));
    EXPECT_EQ(read_json(scratch.path() / adapter_config_file)["fan_in_fan_out"], false);
    EXPECT_EQ(read_json(scratch.path() / adapter_config_file)["lora_alpha"].dump(), "16");
}

/// A directory with lora-gpt2's files, with some keys of the configuration changed.
fs::path changed(const Scratch& scratch, const nlohmann::json& changes) {
    const fs::path from = golden / "lora-gpt2";
    nlohmann::json config = read_json(from / adapter_config_file);
    config["base_model_name_or_path"] = fs::absolute(golden / "belief-star").string();
    config.update(changes);
    const fs::path to = scratch.file(adapter_config_file, config.dump()).parent_path();
    fs::copy_file(from / adapter_weights_file, to / adapter_weights_file, fs::copy_options::overwrite_existing);
    return to;
}

TEST(HostLoraFiles, WhatIsNotSupportedIsRefusedByNameAndValue) {
    const Scratch scratch;
    const auto said_of = [&](const nlohmann::json& changes) {
        const fs::path at = changed(scratch, changes);
        return complaint([&] { merged(open_untokenized_model(at)); });
    };
    EXPECT_EQ(said_of(nlohmann::json::object()), "");
    EXPECT_EQ(said_of({{"init_lora_weights", "gaussian"}, {"target_modules", {"attn.c_attn", "c_proj", "c_proj_s"}}}),
              "");
    const auto refused = [&](const char* key, const nlohmann::json& value, const char* what) {
        const std::string message = said_of({{key, value}});
        expect_holds(message, adapter_config_file);
        expect_holds(message, what);
    };
    refused("peft_type", "IA3", "'peft_type' is 'IA3', wanted 'LORA'");
    refused("peft_type", nullptr, "'peft_type' is missing");
    refused("task_type", "SEQ_CLS", "'task_type' is 'SEQ_CLS'");
    refused("bias", "lora_only", "'bias' is 'lora_only', wanted 'none'");
    refused("use_dora", true, "'use_dora' is true");
    refused("lora_bias", true, "'lora_bias' is true");
    refused("modules_to_save", {"wte"}, "'modules_to_save' is [\"wte\"]");
    refused("rank_pattern", {{"c_attn", 4}}, "'rank_pattern' is {\"c_attn\":4}");
    refused("layers_to_transform", {0}, "'layers_to_transform' is [0]");
    refused("something_new", 0.5, "'something_new' is 0.5");
    refused("init_lora_weights", "pissa", "'init_lora_weights' is 'pissa'");
    refused("r", 0, "'r' is 0, wanted at least 1");
    refused("r", 4, "lora_A.weight [3, 12] (wanted [4, 12])");
    refused("r", "three", "'r' is \"three\", wanted an integer");
    refused("lora_alpha", nullptr, "'lora_alpha' is missing");
    refused("target_modules", ".*c_attn", "'target_modules' is '.*c_attn', wanted a list of names");
    refused("target_modules", nlohmann::json::array(), "'target_modules' is empty");
    refused("target_modules", {"q_proj"}, "target 'q_proj' is none of the linear maps of a GPT-2, wanted some of");
    refused("target_modules", {"c_attn"}, "extra base_model.model.transformer.h.0.attn.c_proj.lora_A.weight");
    refused("target_modules", {"c_attn", "c_proj", "c_proj_s", "c_fc"}, "missing h.0.mlp.c_fc.lora_A.weight");
    refused("base_model_name_or_path", nullptr, "'base_model_name_or_path' is missing, wanted --base DIR");
    refused("base_model_name_or_path", "openai/gpt2", "'openai/gpt2', which is no directory here");
}

TEST(HostLoraFiles, BaseIsFoundFromTheDirectoryOrGiven) {
    const Scratch scratch;
    const fs::path at = changed(scratch, {{"base_model_name_or_path", "below"}});
    fs::create_directory(at / "below");
    for (const char* file : {"config.json", "model.safetensors"})
        fs::copy_file(golden / "belief-star" / file, at / "below" / file);
    EXPECT_EQ(open_untokenized_model(at).path, at / "below");
    EXPECT_EQ(open_untokenized_model({at, golden / "belief-star"}).path, golden / "belief-star");
    expect_holds(complaint([&] {
                     open_untokenized_model({golden / "belief", golden / "belief-star"});
                 }),
                 "--base is for adapters");
    expect_holds(complaint([&] { open_untokenized_model({at, golden / "lora-gpt2"}); }), "holds adapters itself");
    expect_holds(complaint([&] { merged(open_untokenized_model({at, golden / "belief"})); }), "c_proj_s");
}

}  // namespace
}  // namespace vkf::test
