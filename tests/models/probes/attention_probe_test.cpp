// Tensors that layers offer to taps, and their statistics, against PyTorch's in float64 (tests/golden/probes).

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "golden.h"
#include "models/attention/attention_taps.h"
#include "models/files/config_json.h"
#include "models/files/weights.h"
#include "models/language_model.h"
#include "models/probes/attention_statistics.h"
#include "program/program.h"
#include "program/state.h"

namespace vkf::test {
namespace {

const std::filesystem::path probes = golden / "probes";

std::vector<std::string> probe_cases() {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(probes, missing))
        names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

/// Tensors of a layer.
LayerTensors layer_of(const Safetensors& file, const std::string& layer) {
    const std::string prefix = "tap." + layer + ".";
    LayerTensors made;
    for (const std::string& name : attention_tap_names()) made.by_name[name] = file.read_f32(prefix + name);
    const auto& shape = file.at(prefix + std::string(tap::weights)).shape;
    made.batch = shape[0];
    made.heads = shape[1];
    made.queries = shape[2];
    made.keys = shape[3];
    return made;
}

std::set<std::string> layers_of(const Safetensors& file) {
    std::set<std::string> layers;
    const std::string end = "." + std::string(tap::residual);
    for (const StoredTensor& stored : file.tensors())
        if (stored.name.ends_with(end)) layers.insert(stored.name.substr(4, stored.name.size() - 4 - end.size()));
    return layers;
}

/// Compares two numbers, of which both may be no number.
void expect_near(double found, double wanted, double tolerance, const std::string& name) {
    if (std::isnan(wanted))
        EXPECT_TRUE(std::isnan(found)) << name;
    else
        EXPECT_NEAR(found, wanted, tolerance * std::max(1.0, std::abs(wanted))) << name;
}

void expect_statistics(const Safetensors& file, const std::string& layer, const LayerTensors& tensors, bool phi) {
    const auto found = attention_statistics(tensors, phi);
    EXPECT_EQ(found.size(), 11u);
    for (const auto& [name, mean] : found) {
        const std::vector<float> wanted = file.read_f32("statistic." + layer + "." + name);
        // Tensors in fp32 have errors of 6e-8; an angle of a nearly parallel vector magnifies them.
        const double tolerance = name.ends_with("angle") ? 2e-5 : 2e-6;
        expect_near(mean.first, static_cast<double>(wanted[0]), tolerance, layer + " " + name + " first");
        expect_near(mean.all, static_cast<double>(wanted[1]), tolerance, layer + " " + name + " all");
    }
}

class HostAttentionStatistics : public ::testing::TestWithParam<std::string> {};

TEST_P(HostAttentionStatistics, EqualPyTorchs) {
    const Safetensors file = Safetensors::open(probes / (GetParam() + ".safetensors"));
    const std::set<std::string> layers = layers_of(file);
    ASSERT_EQ(layers.size(), 2u);
    for (const std::string& layer : layers)
        expect_statistics(file, layer, layer_of(file, layer), GetParam().starts_with("attentionx"));
}

INSTANTIATE_TEST_SUITE_P(Golden, HostAttentionStatistics, ::testing::ValuesIn(probe_cases()), golden_id);

TEST(HostAttentionStatisticsOfFew, RefuseAMissingTensor) {
    const Safetensors file = Safetensors::open(probes / "standard.safetensors");
    LayerTensors layer = layer_of(file, "h.0.attn");
    layer.by_name.erase(std::string(tap::values));
    EXPECT_THROW(attention_statistics(layer, false), InputError);
}

/// Two heads of two queries and three keys; the second query is padding. A query of head 0 looks at one key, both
/// queries of head 1 look at the same two keys.
TEST(HostAttentionStatisticsOfFew, OfCrossAttentionAreThoseWithoutOwnValues) {
    const LayerTensors layer{.batch = 1,
                             .queries = 2,
                             .keys = 3,
                             .heads = 2,
                             .cross = true,
                             .by_name = {{"attended", {3, 4, 0, 0}},
                                         {"attention_weights", {1, 0, 0, 0, 0, 1, 0.5, 0.5, 0, 0.5, 0.5, 0}}}};
    const auto found = attention_statistics(layer, false);
    EXPECT_EQ(found.size(), 3u);
    EXPECT_EQ(found.at("mh_norm").all, 5);
    EXPECT_NEAR(found.at("entropy").first, std::log(2) / 2, 1e-12);
    EXPECT_NEAR(found.at("entropy").all, std::log(2) / 2, 1e-12);
    EXPECT_EQ(found.at("rank").all, 1.5);  // two equal singular values in head 0, one in head 1
}

class DeviceAttentionTaps : public ::testing::TestWithParam<std::string> {};

/// Logits with and without taps are equal to the bit, and the tensors are PyTorch's.
TEST_P(DeviceAttentionTaps, EqualPyTorchsAndChangeNothing) {
    const std::filesystem::path folder = golden / GetParam();
    const ModelConfig config = read_config_json(folder / "config.json");
    const Safetensors input = Safetensors::open(folder / "case.safetensors");
    const Safetensors wanted = Safetensors::open(probes / (GetParam() + ".safetensors"));
    const TensorType type{DType::i32, Shape(input.at("tokens").shape)};
    std::vector<std::vector<float>> logits;
    for (const bool watched : {false, true}) {
        Graph graph;
        Parameters parameters;
        State state(shared_device());
        Taps taps;
        if (watched) taps.names = attention_tap_names();
        const Scope scope = Scope(graph, parameters).with_taps(&taps);
        graph.output("logits", language_logits(scope, config, graph.input("tokens", type)));
        for (const Tapped& tapped : taps.found) graph.output(tapped.output(), tapped.tensor);
        Program program(shared_device(), graph, state);
        load_weights(folder / "model.safetensors", parameters.list(), state);
        program.write("tokens", integers(input, "tokens"));
        program.run();
        logits.push_back(program.read("logits"));
        if (!watched) continue;
        EXPECT_EQ(taps.found.size(), 2 * attention_tap_names().size());
        for (const Tapped& tapped : taps.found) {
            const std::string name = tapped.output();
            const std::vector<float> want = wanted.read_f32(name), got = program.read(name);
            EXPECT_LE(difference(got, want, 1e-3), 2e-5) << name;
        }
    }
    EXPECT_EQ(logits[0], logits[1]);
}

INSTANTIATE_TEST_SUITE_P(Golden, DeviceAttentionTaps, ::testing::ValuesIn(probe_cases()), golden_id);

/// Only the first rows of a batch are watched, if the taps say so.
TEST(DeviceAttentionTapsOfRows, AreThoseOfTheFirstRows) {
    const std::filesystem::path folder = golden / "llama-belief";
    const ModelConfig config = read_config_json(folder / "config.json");
    const Safetensors input = Safetensors::open(folder / "case.safetensors");
    Graph graph;
    Parameters parameters;
    State state(shared_device());
    Taps taps{.names = attention_tap_names(), .positions = 7};
    const TensorType type{DType::i32, Shape(input.at("tokens").shape)};
    graph.output("logits",
                 language_logits(Scope(graph, parameters).with_taps(&taps), config, graph.input("tokens", type)));
    for (const Tapped& tapped : taps.found) graph.output(tapped.output(), tapped.tensor);
    Program program(shared_device(), graph, state);
    load_weights(folder / "model.safetensors", parameters.list(), state);
    program.write("tokens", integers(input, "tokens"));
    program.run();
    const Safetensors wanted = Safetensors::open(probes / "llama-belief.safetensors");
    for (const Tapped& tapped : taps.found) {
        std::vector<float> want = wanted.read_f32(tapped.output());
        want.resize(want.size() / 2);
        EXPECT_LE(difference(program.read(tapped.output()), want, 1e-3), 2e-5) << tapped.name;
    }
}

}  // namespace
}  // namespace vkf::test
