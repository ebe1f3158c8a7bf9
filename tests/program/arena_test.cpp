// Memory in several buffers, for devices that limit the size of a buffer.

#include "program/arena.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "base/error.h"
#include "device_fixture.h"
#include "models/families/gpt2.h"
#include "models/train/trainer.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::test {
namespace {

constexpr std::int64_t batch = 4, length = 32;

constexpr std::uint64_t few = 160 << 10;  // bytes of a buffer, which holds only one or two tensors

void with_small_buffers(DeviceInfo& info) {
    pretend(info);
    info.buffer_bytes = few;
}

TEST(DeviceArena, CopiesAcrossBuffers) {
    Arena arena(shared_device(), 2500, 1024, Memory::device, "three");
    ASSERT_EQ(arena.buffers().size(), 3u);
    EXPECT_EQ(arena.buffers()[2].bytes(), 452u);
    EXPECT_EQ(arena.address(1024 + 256, 768), arena.buffers()[1].address() + 256);
    EXPECT_THROW(arena.address(1024 + 256, 769), Error);  // buffers need not follow each other
    EXPECT_THROW(arena.address(2048, 453), Error);
    std::vector<std::uint8_t> given(2400), found(2400);
    std::iota(given.begin(), given.end(), std::uint8_t{3});
    arena.fill(0);
    arena.write(100, std::as_bytes(std::span(given)));
    arena.read(100, std::as_writable_bytes(std::span(found)));
    EXPECT_EQ(found, given);
    arena.buffers()[1].read(0, std::as_writable_bytes(std::span(found).first(1024)));
    EXPECT_TRUE(std::equal(found.begin(), found.begin() + 1024, given.begin() + 924));
}

TEST(DeviceArena, NamesATensorThatIsTooLargeForAnyBuffer) {
    const auto most = static_cast<std::int64_t>(shared_device().info().max_buffer_bytes);
    require_buffer(shared_device(), "state 'w' f32[3]", most);
    try {
        require_buffer(shared_device(), "state 'w' f32[3]", most + 1);
        FAIL();
    } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("state 'w' f32[3] takes " + std::to_string(most + 1)), std::string::npos) << message;
        EXPECT_NE(message.find(std::to_string(most), message.find(';')), std::string::npos) << message;
    }
}

/// All results of three steps and an evaluation.
std::map<std::string, std::vector<float>> trained(Device& device) {
    const Gpt2Config model{.vocab_size = 131, .n_positions = length, .n_embd = 48, .n_layer = 3, .n_head = 3};
    const LossGraph loss = [&](const Scope& scope) { return language_loss(scope, model, batch, length); };
    const Feed feed = [](Program& program, std::uint64_t number) {
        std::vector<std::int32_t> tokens;
        for (std::uint64_t i = 0; i <= batch * length; ++i)
            tokens.push_back(static_cast<std::int32_t>((i * i + 7 * number) % 131));
        program.write("tokens", std::span(tokens).first(batch * length));
        program.write("targets", std::span(tokens).last(batch * length));
    };
    const TrainerConfig config{.gradient_accumulation_steps = 2, .dropout = 0.1f, .optimizer = {}};
    Trainer trainer(device, loss, loss, config);
    EXPECT_GT(trainer.state().bytes(), 2 * few);
    EXPECT_GT(trainer.programs()[0]->memory().arena, static_cast<std::int64_t>(2 * few));
    std::map<std::string, std::vector<float>> found;
    for (std::int64_t it = 0; it < 3; ++it)
        found["loss"].push_back(static_cast<float>(trainer.step(it, 1e-3, feed).loss));
    found["loss"].push_back(static_cast<float>(trainer.evaluate(feed, 0, 2)));
    EXPECT_EQ(trainer.find_non_finite(3, feed), "");
    for (const std::string& name : trainer.kept_states()) found[name] = trainer.state().read(name);
    return found;
}

TEST(DeviceArena, TrainingIsTheSameInManyBuffers) {
    Device small({}, with_small_buffers);
    EXPECT_EQ(trained(small), trained(shared_device()));
    EXPECT_EQ(small.validation_messages(), 0u);
}

TEST(DeviceArena, InputsAndOutputsLieInManyBuffersToo) {
    constexpr std::int64_t rows = 400, width = 100;  // each tensor fills a buffer
    Graph graph;
    std::vector<Tensor> inputs;
    for (int i = 0; i < 3; ++i) inputs.push_back(graph.input("x" + std::to_string(i), {DType::f32, {rows, width}}));
    for (std::size_t i = 0; i < 3; ++i) graph.output("y" + std::to_string(i), scale(inputs[2 - i], 2.0f));
    Device small({}, with_small_buffers);
    State state(small);
    Program program(small, graph, state, {.guarded = true});
    const auto value = [](std::size_t i, std::size_t at) { return static_cast<float>(4 * (at % 1000) + i); };
    std::vector<float> values(rows * width);
    for (int run = 0; run < 3; ++run) {
        for (std::size_t i = 0; i < 3; ++i) {
            if (run == 2 && i == 1) continue;  // keeps its value, which moves to the other side
            for (std::size_t at = 0; at < values.size(); ++at) values[at] = value(i, at);
            program.write("x" + std::to_string(i), values);
        }
        program.start();
        if (program.under_way() == 2) program.finish();
    }
    while (program.under_way() > 0) program.finish();
    for (std::size_t i = 0; i < 3; ++i) {
        const std::vector<float> y = program.read("y" + std::to_string(i));
        for (std::size_t at = 0; at < y.size(); ++at) ASSERT_EQ(y[at], 2 * value(2 - i, at)) << i << " " << at;
    }
    EXPECT_EQ(program.damaged_guards(), "");
}

}  // namespace
}  // namespace vkf::test
