#include "models/families/vit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "models/files/config_json.h"
#include "models/train/schedule.h"
#include "models/train/trainer.h"
#include "ops/elementwise/arithmetic.h"
#include "passes/run_passes.h"
#include "scratch.h"

namespace vkf::test {
namespace {

std::int64_t parameter_count(const VitConfig& c) {
    Graph graph;
    Parameters parameters;
    image_logits(Scope(graph, parameters), c,
                 graph.input("images", {DType::f32, {1, c.num_channels, c.image_size, c.image_size}}));
    return parameters.count();
}

/// Plain ViT of BeliefFormer's CIFAR runs.
VitConfig sl(std::int64_t labels, std::string_view variant) {
    VitConfig c{.image_size = 32,
                .patch_size = 4,
                .hidden_size = 192,
                .num_hidden_layers = 9,
                .num_attention_heads = 12,
                .intermediate_size = 384,
                .qkv_bias = false,
                .num_labels = labels,
                .head_dim = 16,
                .attention = {}};
    c.attention.set_variant(variant);
    return c;
}

/// vit_small of AttentionX's CIFAR runs.
VitConfig kk(std::int64_t labels) {
    return {.image_size = 32,
            .patch_size = 4,
            .hidden_size = 512,
            .num_hidden_layers = 6,
            .num_attention_heads = 8,
            .intermediate_size = 512,
            .qkv_bias = false,
            .num_labels = labels,
            .head_dim = 64,
            .patch_shift = PatchShift::cardinal,
            .locality = Locality::per_layer,
            .attention = {}};
}

/// LocalViT-S of BeliefFormer's ImageNet runs.
VitConfig localvit(std::string_view variant) {
    VitConfig c{.image_size = 224,
                .patch_size = 16,
                .hidden_size = 384,
                .num_hidden_layers = 12,
                .num_attention_heads = 6,
                .intermediate_size = 1536,
                .hidden_act = Activation::hardswish,
                .qkv_bias = false,
                .num_labels = 1000,
                .depthwise_kernel_size = 3,
                .attention = {}};
    c.attention.set_variant(variant);
    return c;
}

/// Number of nodes, by name, that make and that read masks of stochastic depth in a training step of SL's ViT.
std::map<std::string, int> nodes_of_stochastic_depth(std::string_view variant) {
    const LossGraph loss = [=](const Scope& scope) { return image_loss(scope, sl(10, variant), 2); };
    StepGraphs graphs(loss, {.drop_path = 0.1f, .optimizer = {}});
    run_passes(graphs.step);
    std::map<std::string, int> found;
    std::set<std::uint32_t> masks;
    for (const Node& node : graphs.step.nodes()) {
        const std::string name(node.op->name());
        if (node.scope.ends_with(".path")) {
            ++found["makes: " + name];
            masks.insert(node.out[0].id());
        }
        for (const Tensor& in : node.in)
            if (in && masks.contains(in.id())) ++found["reads: " + name];
    }
    return found;
}

TEST(HostVit, StochasticDepthIsAMaskThatOnlyProductsAndSumsOfBiasesRead) {
    constexpr int blocks = 9, maps = 2 * blocks;  // per map: a product, two operands' gradients, a bias's gradient
    const std::map<std::string, int> wanted{
        {"makes: fill+dropout", maps}, {"reads: matmul", 3 * maps}, {"reads: column_sum", maps}};
    EXPECT_EQ(nodes_of_stochastic_depth("standard"), wanted);
    std::map<std::string, int> with_second_maps = wanted;
    with_second_maps["reads: matmul"] += 3 * blocks;
    EXPECT_EQ(nodes_of_stochastic_depth("belief-star"), with_second_maps);
}

TEST(HostVit, HasThePublishedModelsParameters) {
    EXPECT_EQ(parameter_count(sl(10, "standard")), 2'692'426);
    EXPECT_EQ(parameter_count(sl(100, "standard")), 2'709'796);
    EXPECT_EQ(parameter_count(sl(10, "belief-star")), 3'024'202);
    EXPECT_EQ(parameter_count(sl(100, "belief-star")), 3'041'572);
    EXPECT_EQ(parameter_count(kk(10)), 9'622'512);
    EXPECT_EQ(parameter_count(kk(100)), 9'668'682);
    VitConfig shifted = sl(10, "standard"), local = sl(10, "standard");
    shifted.patch_shift = PatchShift::diagonal;
    local.locality = Locality::per_head;
    EXPECT_EQ(parameter_count(shifted), 2'692'426 + 37'344);
    EXPECT_EQ(parameter_count(local), 2'692'426 + 108);
    // Published as 22,226,776 and 23,996,248, with parameters that no output depends on: the norms of batches, 46,080,
    // and talking heads, 1,008.
    constexpr std::int64_t unused = 12 * (2 * 1536 + 2 * 384) + 12 * 2 * (6 * 6 + 6);
    EXPECT_EQ(parameter_count(localvit("standard")), 22'179'688);
    EXPECT_EQ(parameter_count(localvit("belief")), 22'179'688);
    EXPECT_EQ(parameter_count(localvit("belief-star")), 22'179'688 + 12 * 384 * 384);
    EXPECT_EQ(parameter_count(localvit("standard")) + unused, 22'226'776);
}

VitConfig vit_config_in(const std::filesystem::path& file) {
    return read_config_json(file).as<VitConfig>();
}

TEST(HostVit, ConfigurationsSurviveTheirFile) {
    Scratch scratch;
    for (const VitConfig& c : {sl(10, "belief-star"), kk(100), localvit("standard")}) {
        const VitConfig read = vit_config_in(scratch.file("config.json", config_json_text(c)));
        EXPECT_EQ(config_json_text(read), config_json_text(c));
        EXPECT_EQ(parameter_count(read), parameter_count(c));
    }
}

TEST(HostVit, ClassNamesSurviveTheirFile) {
    Scratch scratch;
    VitConfig c = sl(3, "standard");
    c.labels = {"cat", "big \"dog\"", "caf\u00e9"};
    const auto file = scratch.file("config.json", config_json_text(c));
    EXPECT_EQ(vit_config_in(file).labels, c.labels);
    EXPECT_EQ(ModelConfig(c).label(1), "big \"dog\"");
    c.labels = {"not\xff utf-8", "b", "c"};
    EXPECT_EQ(vit_config_in(scratch.file("config.json", config_json_text(c))).labels.size(), 3u);
    c.labels.clear();
    EXPECT_EQ(ModelConfig(c).label(2), "2");

    // Other programs give the number of classes by naming them.
    nlohmann::json object = nlohmann::json::parse(config_json_text(c));
    object.erase("num_labels");
    EXPECT_THROW(vit_config_in(scratch.file("config.json", object.dump())), InputError);
    object["id2label"] = {{"0", "LABEL_0"}, {"1", "LABEL_1"}};
    EXPECT_TRUE(vit_config_in(scratch.file("config.json", object.dump())).labels.empty());
    object["id2label"] = {{"0", "cat"}, {"1", "dog"}};
    const VitConfig named = vit_config_in(scratch.file("config.json", object.dump()));
    EXPECT_EQ(named.num_labels, 2);
    EXPECT_EQ(named.labels, (std::vector<std::string>{"cat", "dog"}));
}

TEST(HostVit, RefusesWhatCannotBeBuilt) {
    VitConfig c = sl(10, "standard");
    c.patch_size = 5;
    EXPECT_THROW(validate(c), InputError);
    c = sl(10, "standard");
    c.head_dim = 0;
    c.num_attention_heads = 7;
    EXPECT_THROW(validate(c), InputError);
    c = localvit("standard");
    c.depthwise_kernel_size = 4;
    EXPECT_THROW(validate(c), InputError);
    Graph graph;
    Parameters parameters;
    EXPECT_THROW(
        image_logits(Scope(graph, parameters), sl(10, "standard"), graph.input("x", {DType::f32, {1, 3, 32, 31}})),
        InputError);
}

TEST(HostSchedule, FollowsThePublishedRecipes) {
    EpochSchedule step{.epochs = 100, .warmup_epochs = 10, .steps_per_epoch = 1171};
    EXPECT_DOUBLE_EQ(step.at(0), 1e-6);
    EXPECT_DOUBLE_EQ(step.at(11710), 1e-3);
    EXPECT_NEAR(step.at(5855), (1e-6 + 1e-3) / 2, 1e-12);
    EXPECT_NEAR(step.at(117100), 1e-6, 1e-12);
    EpochSchedule epoch{
        .kind = EpochSchedule::Kind::by_epoch, .learning_rate = 1e-4, .epochs = 200, .steps_per_epoch = 98};
    EXPECT_DOUBLE_EQ(epoch.at(97), 1e-4);
    EXPECT_DOUBLE_EQ(epoch.at(2 * 98), 1e-4);
    EXPECT_NEAR(epoch.at(199 * 98 + 97), 5.55e-8, 5e-11);
}

// DeiT's main program: lr_scheduler.step(epoch) after each epoch, of timm's CosineLRScheduler.
TEST(HostSchedule, FollowsDeiTsAnEpochLate) {
    const EpochSchedule deit{.kind = EpochSchedule::Kind::deit,
                             .learning_rate = 1.25e-4,
                             .min_lr = 1e-5,
                             .epochs = 300,
                             .warmup_epochs = 0,
                             .steps_per_epoch = 20016};
    const auto epoch = [&](std::int64_t e) { return deit.at(e * 20016); };
    EXPECT_DOUBLE_EQ(epoch(0), 1.25e-4);
    EXPECT_DOUBLE_EQ(epoch(1), 1.25e-4);
    EXPECT_EQ(deit.at(2 * 20016 - 1), epoch(1));
    EXPECT_NEAR(epoch(2), 1e-5 + 0.5 * 1.15e-4 * (1 + std::cos(std::numbers::pi / 300)), 1e-18);
    EXPECT_LT(epoch(2), epoch(1));
    EXPECT_NEAR(epoch(30), 1.22e-4, 5e-7);
    EXPECT_NEAR(epoch(151), (1.25e-4 + 1e-5) / 2, 1e-18);
    EXPECT_NEAR(epoch(301), 1e-5, 1e-18);
    EXPECT_NEAR(epoch(1000), 1e-5, 1e-18);
}

// BeliefFormer's varsize_1gpu_best.sh: --init-size 32 --epoch-step 5 --patch-step 2, patches of 16 pixels.
TEST(HostSchedule, ImagesGrowAsPublished) {
    const SideSchedule published{.first = 32, .step = 32, .epochs = 5, .last = 224};
    EXPECT_EQ(published.count(), 7);
    for (const auto& [epoch, side] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 32}, {4, 32}, {5, 64}, {10, 96}, {15, 128}, {20, 160}, {25, 192}, {29, 192}, {30, 224}, {299, 224}})
        EXPECT_EQ(published.at(epoch), side) << epoch;
    const SideSchedule uneven{.first = 16, .step = 24, .epochs = 2, .last = 48};
    EXPECT_EQ(uneven.count(), 3);
    EXPECT_EQ(uneven.side(1), 40);
    EXPECT_EQ(uneven.at(4), 48);
    EXPECT_EQ((SideSchedule{.first = 48, .step = 24, .epochs = 2, .last = 48}.count()), 1);
}

class DeviceVit : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceVit, LearnsOneBatchByHeart) {
    VitConfig c{.image_size = 8,
                .patch_size = 4,
                .hidden_size = 24,
                .num_hidden_layers = 2,
                .num_attention_heads = 3,
                .intermediate_size = 32,
                .num_labels = 4,
                .attention = {}};
    c.attention.set_variant(GetParam());
    const auto loss = [&](const Scope& scope) { return image_loss(scope, c, 4); };
    TrainerConfig config;
    config.optimizer.weight_decay = 0;
    Trainer trainer(shared_device(), loss, loss, config);
    std::vector<float> images(4 * 3 * 64), targets(16);
    for (std::size_t i = 0; i < images.size(); ++i)
        images[i] = static_cast<float>(std::sin(static_cast<double>(i * i)));
    for (std::size_t i = 0; i < 4; ++i) targets[4 * i + (3 * i + 1) % 4] = 1.0f;
    const Feed feed = [&](Program& program, std::uint64_t) {
        program.write("images", images);
        program.write("targets", targets);
    };
    double last = 0;
    for (std::int64_t it = 0; it < 80; ++it) last = trainer.step(it, 5e-3, feed).loss;
    EXPECT_LT(last, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Some, DeviceVit, ::testing::Values("standard", "belief", "concat"));

TEST(HostStochasticDepth, RatesGrowEvenlyWithDepthOnARamp) {
    Graph graph;
    Parameters parameters;
    const auto rates = [&](bool ramp, std::int64_t blocks) {
        std::vector<float> list;
        const Scope scope(graph, parameters, {0.0f, 0.3f, {}, ramp});
        for (std::int64_t i = 0; i < blocks; ++i) list.push_back(scope.block(i, blocks).dropout_state().drop_path);
        return list;
    };
    EXPECT_EQ(rates(false, 3), (std::vector{0.3f, 0.3f, 0.3f}));
    EXPECT_EQ(rates(true, 4), (std::vector{0.0f, 0.3f * (1.0f / 3.0f), 0.3f * (2.0f / 3.0f), 0.3f}));
    EXPECT_EQ(rates(true, 1), std::vector{0.0f});
}

// If a branch is dropped for a sample, only the residual remains; if it is kept, it is scaled by 1 / (1 − rate).
TEST(DeviceStochasticDepth, KeepsOrDropsWholeSamples) {
    Graph graph;
    Parameters parameters;
    const DropoutState dropout{0.0f, 0.5f, graph.input("seed", {DType::i32, {2}})};
    const Tensor x = graph.input("x", {DType::f32, {64, 3, 5}});
    graph.output("y", mul(x, Scope(graph, parameters, dropout).drop_path(x.shape())));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    std::vector<float> values(64 * 15);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f + static_cast<float>(i);
    program.write("x", values);
    program.write("seed", std::array{3, 4});
    program.run();
    const std::vector<float> y = program.read("y");
    int kept = 0;
    for (std::size_t sample = 0; sample < 64; ++sample) {
        const bool keeps = y[15 * sample] != 0.0f;
        kept += keeps;
        for (std::size_t i = 15 * sample; i < 15 * (sample + 1); ++i)
            EXPECT_EQ(y[i], keeps ? 2.0f * values[i] : 0.0f) << i;
    }
    EXPECT_GT(kept, 32 - 5 * 4);  // five deviations of a fair coin
    EXPECT_LT(kept, 32 + 5 * 4);
}

}  // namespace
}  // namespace vkf::test
