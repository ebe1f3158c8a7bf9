// Hooks in the middle of a program's run.
#include "program/hook.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "device_fixture.h"
#include "graph/test_ops.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/flatten.h"
#include "ops/optimizer/optimize.h"
#include "program/program.h"
#include "vulkan/submissions.h"

namespace vkf::test {
namespace {

const FlatLayout layout({{3}, {70}});

/// flat = (2x, 3t), then the hook, then y = (4·2x, 5·3t) and w += flat's second part.
struct Hooked {
    Graph graph;
    State state{shared_device()};

    Hooked() {
        const Tensor x = graph.input("x", {DType::f32, {3}}), t = graph.input("t", {DType::f32, {70}});
        const Tensor flat = flatten(std::vector{scale(x, 2.0f), scale(t, 3.0f)}, layout);
        graph.hook({flat});
        const std::vector<Tensor> parts = unflatten(flat, layout);
        graph.output("x8", scale(parts[0], 4.0f));
        graph.output("t15", scale(parts[1], 5.0f));
        accumulate(std::vector{graph.state("w", {DType::f32, {70}})}, std::vector{parts[1]}, 1.0f);
    }
};

void write(Program& program) {
    program.write("x", std::vector<float>(3, 1.0f));
    program.write("t", std::vector<float>(70, 1.0f));
}

TEST(DeviceHook, SeesWhatIsMadeBeforeAndChangesWhatIsMadeBehind) {
    Hooked hooked;
    Program program(shared_device(), hooked.graph, hooked.state);
    EXPECT_EQ(program.dispatches(), 6U);  // 2 and the gaps' zeros before the hook, 3 after it
    std::vector<float> seen(static_cast<std::size_t>(layout.elements));
    program.set_hook([&](std::span<HookedTensor> tensors) {
        ASSERT_EQ(tensors.size(), 1U);
        ASSERT_EQ(tensors[0].elements(), seen.size());
        EXPECT_NE(tensors[0].address(), 0U);
        tensors[0].read(seen);
        std::vector<float> changed(seen.size(), 10.0f);
        tensors[0].write(changed);
        EXPECT_THROW(tensors[0].read(std::span(changed).first(1)), InputError);
        EXPECT_THROW(tensors[0].write(std::span(changed).first(1)), InputError);
    });
    write(program);
    program.run();
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const bool first = i < 3, second = i >= 64 && i < 64 + 70;
        EXPECT_EQ(seen[i], first ? 2.0f : second ? 3.0f : 0.0f) << i;
    }
    EXPECT_EQ(program.read("x8"), std::vector<float>(3, 40.0f));
    EXPECT_EQ(program.read("t15"), std::vector<float>(70, 50.0f));
    EXPECT_EQ(hooked.state.read("w"), std::vector<float>(70, 10.0f));
}

TEST(DeviceHook, WithoutOneARunIsOneSubmission) {
    Hooked hooked;
    Program program(shared_device(), hooked.graph, hooked.state);
    const auto run = [&] {
        write(program);
        const std::uint64_t before = submissions(shared_device());
        program.run();
        return submissions(shared_device()) - before;
    };
    EXPECT_EQ(run(), 1U);
    EXPECT_EQ(program.read("t15"), std::vector<float>(70, 15.0f));
    program.set_hook([](std::span<HookedTensor>) {});
    EXPECT_EQ(run(), 2U);
    EXPECT_EQ(program.read("t15"), std::vector<float>(70, 15.0f));
    program.set_hook({});
    EXPECT_EQ(run(), 1U);
}

TEST(DeviceHook, WhenItThrowsNothingBehindItIsRun) {
    Hooked hooked;
    Program program(shared_device(), hooked.graph, hooked.state);
    write(program);
    program.start();
    program.set_hook([](std::span<HookedTensor>) { throw std::runtime_error("stop"); });
    program.write("x", std::vector<float>(3, 2.0f));
    EXPECT_THROW(program.start(), std::runtime_error);
    EXPECT_EQ(program.under_way(), 1U);
    program.finish();
    EXPECT_EQ(program.read("x8"), std::vector<float>(3, 8.0f));
    EXPECT_EQ(hooked.state.read("w"), std::vector<float>(70, 3.0f));
    program.set_hook({});
    program.run();
    EXPECT_EQ(program.read("x8"), std::vector<float>(3, 16.0f));
    EXPECT_EQ(hooked.state.read("w"), std::vector<float>(70, 6.0f));
}

TEST(DeviceHook, TakesStatesToo) {
    Graph graph;
    const Tensor w = graph.state("w", {DType::f32, {5}});
    graph.hook({w});
    graph.output("y", scale(w, 2.0f));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    state.write("w", std::vector<float>(5, 1.0f));
    std::vector<float> seen(5);
    program.set_hook([&](std::span<HookedTensor> tensors) {
        tensors[0].read(seen);
        tensors[0].write(std::vector<float>(5, 3.0f));
    });
    program.run();
    EXPECT_EQ(seen, std::vector<float>(5, 1.0f));
    EXPECT_EQ(program.read("y"), std::vector<float>(5, 6.0f));
    EXPECT_EQ(state.read("w"), std::vector<float>(5, 3.0f));
}

TEST(DeviceHook, TimesAndSegmentsAreThoseOfBothHalves) {
    if (shared_device().info().timestamp_ns == 0) GTEST_SKIP() << "the device has no timestamps";
    Hooked hooked;
    Program program(shared_device(), hooked.graph, hooked.state, {.stamps = true, .segment_ms = 1e-9});
    EXPECT_EQ(program.segments(), 1 + program.dispatches());  // another command buffer begins after the hook
    write(program);
    const std::uint64_t before = submissions(shared_device());
    program.run();
    EXPECT_EQ(submissions(shared_device()) - before, program.dispatches());
    const std::vector<NodeTime> times = program.node_times();
    EXPECT_EQ(times.size(), program.dispatches());
    EXPECT_EQ(times.back().op, "accumulate");
}

TEST(HostHook, StandsBeforeAllWhoRead) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4}}), y = scale(x, 2.0f), i = graph.input("i", {DType::i32, {4}});
    EXPECT_NE(message([&] { graph.hook({i}); }).find("i32[4]"), std::string::npos);
    EXPECT_EQ(graph.nodes_before_hook(), 0U);
    graph.output("z", scale(y, 2.0f));
    EXPECT_NE(message([&] { graph.hook({y}); }).find("reads f32[4] before its hook"), std::string::npos);
    const Tensor made = scale(x, 3.0f);
    graph.output("last", scale(x, 4.0f));
    graph.hook({made});
    EXPECT_EQ(graph.nodes_before_hook(), 3U);
    EXPECT_THROW(graph.hook({made}), InputError);
}

TEST(DeviceHook, IsRefusedWhereTheGraphHasNone) {
    Graph graph;
    graph.output("y", scale(graph.input("x", {DType::f32, {4}}), 2.0f));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    EXPECT_THROW(program.set_hook([](std::span<HookedTensor>) {}), InputError);
    program.set_hook({});
}

}  // namespace
}  // namespace vkf::test
