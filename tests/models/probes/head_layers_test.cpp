// Heads of models: their layers, and losses without one of them against PyTorch's with the head's output set to zero
// (tests/golden/probes).

#include "models/probes/head_layers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device_fixture.h"
#include "golden.h"
#include "models/attention/attention_taps.h"
#include "models/families/marian.h"
#include "models/files/config_json.h"
#include "models/files/weights.h"
#include "models/language_model.h"
#include "models/translation_model.h"
#include "program/program.h"
#include "program/state.h"

namespace vkf::test {
namespace {

class DeviceHeadPruning : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceHeadPruning, HasPyTorchsLossWithoutEachHead) {
    const std::filesystem::path folder = golden / GetParam();
    const ModelConfig config = read_config_json(folder / "config.json");
    const Safetensors input = Safetensors::open(folder / "case.safetensors");
    const Safetensors wanted = Safetensors::open(golden / "probes" / (GetParam() + ".safetensors"));
    const auto& shape = input.at("tokens").shape;
    Graph graph;
    Parameters parameters;
    State state(shared_device());
    Taps taps{.names = {std::string(tap::output_map)}};
    const Scope scope = Scope(graph, parameters).with_taps(&taps);
    graph.output("loss", language_evaluation(scope, config, shape[0], shape[1]));
    const std::vector<HeadLayer> layers = head_layers(taps, parameters);
    Program program(shared_device(), graph, state);
    load_weights(folder / "model.safetensors", parameters.list(), state);
    program.write("tokens", integers(input, "tokens"));
    program.write("targets", integers(input, "targets"));
    const auto loss = [&] {
        program.run();
        return program.read_scalar("loss");
    };
    const float whole = loss();
    EXPECT_NEAR(whole, wanted.read_f32("loss")[0], 1e-5);

    ASSERT_EQ(layers.size(), 2u);
    HeadPruning pruning(state, layers);
    const std::size_t all = pruning.left().size();
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const std::vector<float> without = wanted.read_f32("loss_without." + layers[layer].name);
        ASSERT_EQ(std::ssize(without), layers[layer].heads);
        for (std::int64_t head = 0; head < layers[layer].heads; ++head) {
            pruning.prune({layer, head});
            EXPECT_TRUE(pruning.pruned({layer, head}));
            EXPECT_NEAR(loss(), without[static_cast<std::size_t>(head)], 1e-5) << layers[layer].name << ' ' << head;
            pruning.restore({layer, head});
        }
    }
    EXPECT_EQ(loss(), whole);

    pruning.prune({0, 1});
    pruning.prune({0, 0});
    pruning.restore({0, 1});
    EXPECT_EQ(pruning.left().size(), all - 1);
    EXPECT_NEAR(loss(), wanted.read_f32("loss_without." + layers[0].name)[0], 1e-5);
    // A model that is read in this state is known to have lost the head.
    const HeadPruning found(state, layers);
    EXPECT_TRUE(found.pruned({0, 0}));
    EXPECT_EQ(found.left().size(), all - 1);
}

INSTANTIATE_TEST_SUITE_P(Golden, DeviceHeadPruning,
                         ::testing::Values("standard", "attentionx-value", "belief-star", "concat", "llama-belief",
                                           "bert-belief-star"),
                         golden_id);

TEST(HostHeadLayers, AreThoseOfBothStacksAndBetweenThem) {
    const ModelConfig config = read_config_json(golden / "marian-belief-star" / "config.json");
    Graph graph;
    Parameters parameters;
    Taps taps{.names = {std::string(tap::output_map)}};
    translation_loss(Scope(graph, parameters).with_taps(&taps), config, PairShape{2, 5, 4});
    const std::vector<HeadLayer> layers = head_layers(taps, parameters);
    ASSERT_EQ(layers.size(), 6u);
    EXPECT_EQ(layers[0].name, "model.encoder.layers.0.self_attn");
    ASSERT_EQ(layers[0].maps.size(), 2u);  // W^o and W^s
    EXPECT_EQ(layers[0].maps[0].parameter, "model.encoder.layers.0.self_attn.out_proj.weight");
    EXPECT_EQ(layers[0].maps[1].parameter, "model.encoder.layers.0.self_attn.out_proj_s.weight");
    EXPECT_TRUE(layers[0].maps[0].out_in);
    EXPECT_EQ(layers[2].name, "model.decoder.layers.0.self_attn");
    EXPECT_EQ(layers[3].name, "model.decoder.layers.0.encoder_attn");
    EXPECT_EQ(layers[3].maps.size(), 1u);
    for (const HeadLayer& layer : layers) EXPECT_EQ(layer.heads * layer.width, config.as<MarianConfig>().d_model);
}

TEST(HostHeadLayers, AreNoneOfARecurrentModel) {
    const ModelConfig config = read_config_json(golden / "recurrent-lstm-general" / "config.json");
    Graph graph;
    Parameters parameters;
    Taps taps{.names = {std::string(tap::output_map)}};
    translation_loss(Scope(graph, parameters).with_taps(&taps), config, PairShape{2, 5, 4});
    EXPECT_TRUE(head_layers(taps, parameters).empty());
}

}  // namespace
}  // namespace vkf::test
