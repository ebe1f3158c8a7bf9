#include "models/gpt2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/safetensors.h"
#include "device_fixture.h"
#include "models/files/gpt2_config.h"
#include "models/files/weights.h"
#include "models/train/token_feed.h"
#include "ops/backward.h"
#include "ops/ops.h"
#include "program/program.h"

namespace vkf::test {
namespace {

const std::filesystem::path golden = "tests/golden";  // ctest runs in the project's folder

std::vector<std::int32_t> integers(const Safetensors& file, std::string_view name) {
    const std::vector<std::int64_t> wide = file.read_i64(name);
    return {wide.begin(), wide.end()};
}

/// ‖got − want‖ / max(‖want‖, floor)
double difference(std::span<const float> got, std::span<const float> want, double floor = 0) {
    double error = 0, size = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        error += std::pow(static_cast<double>(got[i]) - static_cast<double>(want[i]), 2);
        size += std::pow(static_cast<double>(want[i]), 2);
    }
    return std::sqrt(error) / std::max({std::sqrt(size), floor, 1e-30});
}

class DeviceGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceGolden, LogitsLossAndEveryGradientEqualPyTorchs) {
    const Gpt2Config config = read_gpt2_config(golden / GetParam() / "config.json");
    const Safetensors expected = Safetensors::open(golden / GetParam() / "case.safetensors");
    const std::vector<std::int64_t>& shape = expected.at("tokens").shape;

    Graph graph;
    Parameters parameters;
    const TensorType batch{DType::i32, Shape(shape)};
    const Tensor logits = gpt2(Scope(graph, parameters), config, graph.input("tokens", batch));
    const Tensor loss = cross_entropy(logits, graph.input("targets", batch));
    graph.output("logits", logits);
    graph.output("loss", loss);
    std::vector<Tensor> wrt;
    for (const Parameter& p : parameters.list()) wrt.push_back(p.tensor);
    const std::vector<Tensor> d = gradients(loss, wrt);
    for (std::size_t i = 0; i < wrt.size(); ++i) graph.output("grad." + parameters.list()[i].name, d[i]);

    State state(shared_device());
    Program program(shared_device(), graph, state);
    load_weights(golden / GetParam() / "model.safetensors", parameters.list(), "", state);
    program.write("tokens", integers(expected, "tokens"));
    program.write("targets", integers(expected, "targets"));
    program.run();

    // fp32 through two blocks: a few hundred roundings of 2^-24 each, of random sign.
    EXPECT_LE(difference(program.read("logits"), expected.read_f32("logits")), 2e-6);
    EXPECT_LE(difference(program.read("loss"), expected.read_f32("loss")), 2e-6);
    double largest = 0;
    for (const Parameter& p : parameters.list()) {
        double size = 0;
        for (const float g : expected.read_f32("grad." + p.name))
            size += static_cast<double>(g) * static_cast<double>(g);
        largest = std::max(largest, std::sqrt(size));
    }
    for (const Parameter& p : parameters.list())
        EXPECT_LE(difference(program.read("grad." + p.name), expected.read_f32("grad." + p.name), 1e-4 * largest), 5e-6)
            << p.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, DeviceGolden,
                         ::testing::Values("standard", "attentionx-sum", "attentionx-value", "belief", "belief-head",
                                           "belief-star", "concat"),
                         [](const auto& name) {
                             std::string id = name.param;
                             std::replace(id.begin(), id.end(), '-', '_');
                             return id;
                         });

Gpt2Config tiny(std::string_view variant) {
    Gpt2Config c;
    c.vocab_size = 17;
    c.n_positions = 12;
    c.n_embd = 24;
    c.n_layer = 2;
    c.n_head = 3;
    c.attention.variant = variant;
    c.attention.gamma = variant == "attentionx" ? 3.0f : 1.0f;
    return c;
}

class DeviceVariant : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceVariant, NeverSeesTheFuture) {
    Graph graph;
    Parameters parameters;
    graph.output("logits",
                 gpt2(Scope(graph, parameters), tiny(GetParam()), graph.input("tokens", {DType::i32, {1, 12}})));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    for (const Parameter& p : parameters.list()) state.write(p.name, initial_values(p, 5));
    std::vector<std::int32_t> tokens{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    program.write("tokens", tokens);
    program.run();
    const std::vector<float> before = program.read("logits");
    tokens[7] = 11;
    program.write("tokens", tokens);
    program.run();
    const std::vector<float> after = program.read("logits");
    const std::size_t changed = 7 * 17;
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + changed, after.begin()));
    EXPECT_FALSE(std::equal(before.begin() + changed, before.end(), after.begin() + changed));
}

Trainer trainer_of(const Gpt2Config& model, std::int64_t rows, const TrainerConfig& config) {
    const auto loss = [&](const Scope& scope) { return gpt2_loss(scope, model, rows, 12); };
    return Trainer(shared_device(), loss, loss, config);
}

TEST_P(DeviceVariant, LearnsOneBatchByHeart) {
    TrainerConfig config;
    config.optimizer.weight_decay = 0;
    Trainer trainer = trainer_of(tiny(GetParam()), 2, config);
    Batch batch;
    for (std::int32_t i = 0; i < 24; ++i) {
        batch.tokens.push_back(i * 7 % 17);
        batch.targets.push_back((i + 1) * 7 % 17);
    }
    double loss = 0;
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    for (std::int64_t it = 0; it < 150; ++it) loss = trainer.step(it, 1e-2, feed).loss;
    EXPECT_LT(loss, 0.05);
}

std::vector<std::string> variant_names() {
    std::vector<std::string> names;
    for (const Variant& variant : variants()) names.emplace_back(variant.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, DeviceVariant, ::testing::ValuesIn(variant_names()), [](const auto& name) {
    std::string id = name.param;
    std::replace(id.begin(), id.end(), '-', '_');
    return id;
});

TEST(DevicePlan, TheTrainingStepsArenaIsWithinATenthOfTheLiveSetBound) {
    Gpt2Config model = tiny("belief-star");
    model.n_embd = 96;
    model.n_layer = 4;
    const Trainer trainer = trainer_of(model, 4, {});
    const MemoryUse& memory = trainer.programs()[0]->memory();
    EXPECT_LE(static_cast<double>(memory.arena), 1.1 * static_cast<double>(memory.bound));
}

TEST(DeviceTraining, AccumulatedMicroBatchesEqualOneBatch) {
    const auto train = [](std::int64_t rows, std::int64_t micro_batches) {
        const Feed feed = [&](Program& program, std::uint64_t number) {
            Batch batch;
            for (std::int64_t i = 0; i < rows * 12; ++i) {
                const auto token = static_cast<std::int64_t>(number) * rows * 12 + i;
                batch.tokens.push_back(static_cast<std::int32_t>(token * token % 17));
                batch.targets.push_back(static_cast<std::int32_t>(token * 3 % 17));
            }
            write_batch(program, batch);
        };
        TrainerConfig config;
        config.gradient_accumulation_steps = micro_batches;
        Trainer trainer = trainer_of(tiny("belief"), rows, config);
        std::vector<double> losses;
        for (std::int64_t it = 0; it < 5; ++it) losses.push_back(trainer.step(it, 1e-3, feed).loss);
        return losses;
    };
    const std::vector<double> whole = train(4, 1), parts = train(2, 2);
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], parts[i], 2e-6 * whole[i]) << "step " << i;
}

}  // namespace
}  // namespace vkf::test
