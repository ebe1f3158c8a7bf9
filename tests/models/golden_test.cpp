// Whole models against PyTorch's results in double, in tests/golden (with the programs that made them).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>
#include <string_view>

#include "base/files/safetensors.h"
#include "base/random.h"
#include "device_fixture.h"
#include "golden.h"
#include "golden_outputs.h"
#include "graph/reference.h"
#include "models/attention/kind.h"
#include "models/files/config_json.h"
#include "models/files/stored_weights.h"
#include "models/files/weights.h"
#include "models/image_model.h"
#include "models/language_model.h"
#include "models/sequence_model.h"
#include "models/translation_model.h"
#include "ops/loss/cross_entropy.h"
#include "program/program.h"
#include "sequence_golden.h"
#include "translation_golden.h"

namespace vkf::test {
namespace {

/// Dropout of the case's micro-batch, if it has any; declares the seed as an input.
DropoutState dropout_of(const Safetensors& file, Graph& graph) {
    if (!file.contains("seed")) return {};
    return {file.read_f32("dropout")[0], file.read_f32("drop_path")[0], graph.input("seed", {DType::i32, {2}}),
            file.contains("drop_path_ramp")};
}

/// Seed, computed as in a training step.
std::array<std::int32_t, 2> seed_of(const Safetensors& file) {
    const auto number = [&](std::string_view name) { return static_cast<std::uint64_t>(file.read_i64(name)[0]); };
    const auto key = stream_key(number("seed"), "dropout", number("micro_batch"));
    return {static_cast<std::int32_t>(key[0]), static_cast<std::int32_t>(key[1])};
}

/// Relative change of a language model's logits if each weight is off by up to 2^-24 of itself: the median of five
/// draws.
double rounding_of_logits(const ModelConfig& config, const std::filesystem::path& folder, const Safetensors& expected) {
    Graph graph;
    Parameters parameters;
    const TensorType type{DType::i32, Shape(expected.at("tokens").shape)};
    graph.output("logits", language_logits(Scope(graph, parameters), config, graph.input("tokens", type)));
    const StoredWeights weights = StoredWeights::open(folder / "model.safetensors");
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> off(-0x1p-24, 0x1p-24);
    const auto logits = [&](bool moved) {
        const std::vector<std::int32_t> tokens = integers(expected, "tokens");
        Arrays leaves{{"tokens", {type.shape, {tokens.begin(), tokens.end()}}}};
        for (const Parameter& p : parameters.list()) {
            Array& array = leaves[p.name] = {p.shape, {}};
            for (const float x : weights.read_f32(p.name))
                array.at.push_back(static_cast<double>(x) * (moved ? 1 + off(random) : 1));
        }
        return interpret(graph, leaves).at("logits").at;
    };
    const std::vector<double> exact = logits(false);
    std::array<double, 5> found{};
    for (double& each : found) {
        const std::vector<double> moved = logits(true);
        double error = 0, size = 0;
        for (std::size_t i = 0; i < exact.size(); ++i)
            error += std::pow(moved[i] - exact[i], 2), size += std::pow(exact[i], 2);
        each = std::sqrt(error / size);
    }
    std::ranges::sort(found);
    return found[2];
}

/// Cases of a task, and those of one input and its targets.
std::vector<std::string> golden_cases_of(const Task& task) {
    std::vector<std::string> names = golden_cases();
    std::erase_if(names,
                  [&](const std::string& name) { return &read_family(golden / name / "config.json").task() != &task; });
    return names;
}
std::vector<std::string> other_golden_cases() {
    std::vector<std::string> names = golden_cases();
    for (const Task* task : {&translation_task(), &sequence_task()})
        for (const std::string& name : golden_cases_of(*task)) std::erase(names, name);
    return names;
}

class DeviceGoldenTranslation : public ::testing::TestWithParam<std::string> {};
class DeviceGoldenSequences : public ::testing::TestWithParam<std::string> {};
class DeviceGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceGolden, LogitsLossAndEveryGradientEqualPyTorchs) {
    const std::filesystem::path folder = golden / GetParam();
    const Safetensors expected = Safetensors::open(folder / "case.safetensors");
    const ModelConfig config = read_config_json(folder / "config.json");
    const bool images = &config.family().task() == &image_task();
    const std::string input = images ? "images" : "tokens", target = images ? "labels" : "targets";

    Graph graph;
    Parameters parameters;
    const DropoutState dropout = dropout_of(expected, graph);
    const Scope scope(graph, parameters, dropout);
    const Tensor x = graph.input(input, {images ? DType::f32 : DType::i32, Shape(expected.at(input).shape)});
    const Tensor logits = images ? image_logits(scope, config, x) : language_logits(scope, config, x);
    const Tensor loss = cross_entropy(logits, graph.input(target, {DType::i32, Shape(expected.at(target).shape)}));
    output_all(graph, parameters, logits, loss);

    State state(shared_device());
    Program program(shared_device(), graph, state);
    load_weights(folder / "model.safetensors", parameters.list(), state);
    if (images)
        program.write(input, expected.read_f32(input));
    else
        program.write(input, integers(expected, input));
    program.write(target, integers(expected, target));
    if (dropout.any()) program.write("seed", seed_of(expected));
    program.run();

    for (const Parameter& p : parameters.list()) EXPECT_TRUE(expected.contains("grad." + p.name)) << p.name;
    const auto read = [&](const std::string& name) { return program.read(name); };
    if (images || dropout.any()) return expect_golden(expected, read);
    expect_golden(expected, read, tolerance(rounding_of_logits(config, folder, expected)));
}

TEST_P(DeviceGoldenTranslation, LogitsLossAndEveryGradientEqualPyTorchs) {
    const std::filesystem::path folder = golden / GetParam();
    const Safetensors expected = Safetensors::open(folder / "case.safetensors");
    ModelConfig config = read_config_json(folder / "config.json");
    if (const auto adopt = config.family().adopt_weights)
        adopt(config, StoredWeights::open(folder / "model.safetensors"));

    Graph graph;
    Parameters parameters;
    const Scope scope(graph, parameters);
    const auto input = [&](const char* name) {
        return graph.input(name, {DType::i32, Shape(expected.at(name).shape)});
    };
    const Sentences source{input("source_tokens"), input("source_lengths")};
    const Sentences target{input("tokens"), input("target_lengths")};
    const Tensor logits = translation_logits(scope, config, source, target);
    const LossTerms terms{.label_smoothing = expected.read_f32("label_smoothing")[0]};
    const Tensor loss = translation_loss(scope, config, source, target, input("targets"), terms);
    output_all(graph, parameters, logits, loss);

    State state(shared_device());
    Program program(shared_device(), graph, state);
    load_weights(folder / "model.safetensors", parameters.list(), state, config.family().tensors);
    for (const char* name : {"source_tokens", "source_lengths", "tokens", "target_lengths", "targets"})
        program.write(name, integers(expected, name));
    program.run();

    for (const Parameter& p : parameters.trained()) EXPECT_TRUE(expected.contains("grad." + p.name)) << p.name;
    expect_translation_golden(expected, [&](const std::string& name) { return program.read(name); });
}

/// Each sequence of a case was computed alone, without padding.
TEST_P(DeviceGoldenSequences, LogitsLossAndEveryGradientEqualPyTorchs) {
    const std::filesystem::path folder = golden / GetParam();
    const Safetensors expected = Safetensors::open(folder / "case.safetensors");
    const ModelConfig config = read_config_json(folder / "config.json");

    Graph graph;
    Parameters parameters;
    const Scope scope(graph, parameters);
    const auto input = [&](const char* name) {
        return graph.input(name, {DType::i32, Shape(expected.at(name).shape)});
    };
    const Sentences sequences{input("tokens"), input("lengths")};
    const Tensor logits = sequence_logits(scope, config, sequences);
    const LossTerms terms{.label_smoothing = expected.read_f32("label_smoothing")[0]};
    output_all(graph, parameters, logits, sequence_loss(scope, config, sequences, input("targets"), terms));

    State state(shared_device());
    Program program(shared_device(), graph, state);
    load_weights(folder / "model.safetensors", parameters.list(), state, config.family().tensors);
    for (const char* name : {"tokens", "lengths", "targets"}) program.write(name, integers(expected, name));
    program.run();

    for (const Parameter& p : parameters.list()) EXPECT_TRUE(expected.contains("grad." + p.name)) << p.name;
    expect_sequence_golden(expected, [&](const std::string& name) { return program.read(name); });
}

INSTANTIATE_TEST_SUITE_P(Cases, DeviceGoldenSequences, ::testing::ValuesIn(golden_cases_of(sequence_task())),
                         golden_id);

INSTANTIATE_TEST_SUITE_P(Cases, DeviceGoldenTranslation, ::testing::ValuesIn(golden_cases_of(translation_task())),
                         golden_id);

INSTANTIATE_TEST_SUITE_P(Cases, DeviceGolden, ::testing::ValuesIn(other_golden_cases()), golden_id);

TEST(HostGolden, EveryFamilyVariantAndKindHaveACase) {
    std::set<std::string_view> seen, kinds;
    for (const std::string& name : golden_cases()) {
        const ModelConfig config = read_config_json(golden / name / "config.json");
        seen.insert(config.family().architecture);
        if (!config.has_attention()) continue;
        seen.insert(config.attention().variant().name);
        kinds.insert(config.attention().kind().name);
    }
    for (const Family* family : families()) EXPECT_TRUE(seen.contains(family->architecture)) << family->title;
    for (const AttentionVariant* variant : variants()) EXPECT_TRUE(seen.contains(variant->name)) << variant->name;
    for (const AttentionKind* kind : attention_kinds()) EXPECT_TRUE(kinds.contains(kind->name)) << kind->name;
}

}  // namespace
}  // namespace vkf::test
