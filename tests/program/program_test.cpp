#include "program/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/optimizer/optimize.h"
#include "passes/run_passes.h"
#include "vulkan/submissions.h"

namespace vkf::test {
namespace {

std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

TEST(DeviceProgram, ReplaysWithNewInputs) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {1000}});
    graph.output("y", add(scale(x, 2.0f), x));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    for (const float factor : {1.0f, -4.0f}) {
        std::vector<float> values = ramp(1000);
        for (float& v : values) v *= factor;
        program.write("x", values);
        program.run();
        const std::vector<float> y = program.read("y");
        for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 3.0f * values[i]);
    }
}

TEST(DeviceProgram, StatesAreSharedByName) {
    State state(shared_device());
    Graph writer, reader;
    const Tensor target = writer.state("s", {DType::f32, {3, 5}});
    vkf::accumulate(std::vector{target}, std::vector{writer.input("x", {DType::f32, {3, 5}})}, 0.5f);
    reader.output("y", scale(reader.state("s", {DType::f32, {3, 5}}), 1.0f));
    Program write(shared_device(), writer, state), read(shared_device(), reader, state);
    write.write("x", ramp(15));
    for (int runs = 0; runs < 4; ++runs) write.run();
    read.run();
    const std::vector<float> y = read.read("y");
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], 2.0f * static_cast<float>(i + 1));
    EXPECT_EQ(state.read("s"), y);
}

TEST(DeviceProgram, RunsOverlapWithInputsAndOutputsOfTheirOwn) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {3}}), factor = graph.input("factor", {DType::f32, {3}});
    graph.output("y", mul(x, factor));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    const auto write = [&](const char* name, float value) { program.write(name, std::vector<float>(3, value)); };
    write("factor", 10);
    write("x", 1);
    program.run();
    EXPECT_EQ(program.read("y").front(), 10.0f);
    const std::int64_t one_at_a_time = program.memory().inputs;
    for (float next = 2; next < 7; ++next) {
        write("x", next);  // the factor keeps its value
        program.start();
        if (program.under_way() < 2) continue;
        EXPECT_THROW(write("x", 0), InputError);
        EXPECT_THROW(program.start(), InputError);
        program.finish();
        EXPECT_EQ(program.read("y").front(), 10 * (next - 1));
    }
    write("factor", 100);
    program.finish();
    EXPECT_EQ(program.read("y").front(), 60.0f);
    program.run();  // with the factor written while the last run was under way
    EXPECT_EQ(program.read("y").front(), 600.0f);
    EXPECT_EQ(program.memory().inputs * one_run_at_a_time.inputs, one_at_a_time * overlapping_runs.inputs);
    EXPECT_THROW(program.finish(), InputError);
}

/// Number of copies between host and device in a program's last submission.
std::ptrdiff_t copies(const Program& program) {
    std::ptrdiff_t count = 0;
    for (const Recording* recording : program.recordings())
        for (const Segment& segment : recording->segments)
            for (const Phase& phase : segment)
                count += std::ranges::count_if(phase.commands, [](const Command& command) {
                    return std::holds_alternative<BufferCopy>(command.what);
                });
    return count;
}

TEST(DeviceProgram, CopiesOnlyInputsThatWereWritten) {
    Graph graph;
    graph.output("y", add(graph.input("a", {DType::f32, {3}}), graph.input("b", {DType::f32, {3}})));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    program.run();
    EXPECT_EQ(program.read("y").front(), 0.0f) << "what nobody has written is zero";
    EXPECT_EQ(copies(program), 1) << "the output";
    const auto write = [&](const char* name, float value) { program.write(name, std::vector<float>(3, value)); };
    write("a", 1);
    write("b", 10);
    program.run();
    EXPECT_EQ(program.read("y").front(), 11.0f);
    EXPECT_EQ(copies(program), 3);
    for (float next = 2; next < 6; ++next) {  // on either side of the host's memory
        write("a", next);
        program.start();
        EXPECT_EQ(copies(program), 2);
        if (program.under_way() == 2) program.finish();
    }
    program.finish();
    EXPECT_EQ(program.read("y").front(), 15.0f);
    program.run();
    EXPECT_EQ(copies(program), 1);
    EXPECT_EQ(program.read("y").front(), 15.0f);
    write("b", 20);
    EXPECT_EQ(program.find_non_finite(), "");
    program.run();
    EXPECT_EQ(copies(program), 1) << "the device has it";
    EXPECT_EQ(program.read("y").front(), 25.0f);
}

TEST(DeviceProgram, SubmitsSegmentsTogetherOnceItKnowsHowLongTheyTake) {
    Graph graph;
    Tensor y = graph.input("x", {DType::f32, {1 << 10}});
    for (int i = 0; i < 20; ++i) y = scale(y, 1.0f);
    graph.output("y", y);
    run_passes(graph, only_storage_types);
    DeviceTraits slow = traits(shared_device());
    slow.bytes_per_second = 1;
    State state(shared_device());
    Program program(shared_device(), graph, state, {.segment_ms = 1e5, .traits = slow});
    program.write("x", ramp(1 << 10));
    for (const std::uint64_t wanted : {20, 1, 1}) {
        const std::uint64_t before = submissions(shared_device());
        program.run();
        EXPECT_EQ(submissions(shared_device()) - before, wanted);
        EXPECT_EQ(program.read("y"), ramp(1 << 10));
    }
}

TEST(DeviceProgram, IndependentKernelsShareABarrier) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {64}});
    add(x, x);  // no op reads it
    std::vector<Tensor> parts;
    for (int i = 1; i <= 6; ++i) parts.push_back(scale(x, static_cast<float>(i)));
    for (std::size_t i = 0; i < parts.size(); ++i) graph.output("y" + std::to_string(i), parts[i]);
    State state(shared_device());
    const Program program(shared_device(), graph, state);
    EXPECT_EQ(program.dispatches(), 6u);  // the unused sum is dead
    EXPECT_EQ(program.barriers(), 0u);
}

TEST(DeviceProgram, LongWorkIsCutIntoSegments) {
    Graph graph;
    Tensor y = graph.input("x", {DType::f32, {1 << 16}});
    for (int i = 0; i < 20; ++i) y = scale(y, 1.0f);
    graph.output("y", y);
    run_passes(graph, only_storage_types);
    State state(shared_device());
    Program whole(shared_device(), graph, state);
    Program cut(shared_device(), graph, state, {.segment_ms = 1e-3});
    EXPECT_EQ(whole.segments(), 1u);
    EXPECT_EQ(cut.segments(), 20u);
    for (Program* program : {&whole, &cut}) {
        program->write("x", ramp(1 << 16));
        program->run();
    }
    EXPECT_EQ(whole.read("y"), cut.read("y"));
}

TEST(DeviceProgram, NamesTheFirstNumberThatIsNotFinite) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4}});
    graph.scope = "first";
    const Tensor a = add(x, x);
    graph.scope = "second";
    const Tensor b = div(a, sub(a, a));
    graph.scope = "third";
    graph.output("y", mul(b, b));
    run_passes(graph, only_storage_types);
    State state(shared_device());
    Program program(shared_device(), graph, state);
    program.write("x", ramp(4));
    EXPECT_EQ(program.find_non_finite(), "second: div: output 0, element 0 of [4] is inf");
}

TEST(DeviceProgram, TimesEveryNode) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4096}});
    graph.output("y", mul(add(x, x), x));
    run_passes(graph, only_storage_types);
    State state(shared_device());
    Program program(shared_device(), graph, state, {.stamps = true});
    program.run();
    const std::vector<NodeTime> times = program.node_times();
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[0].op, "add");
    EXPECT_GT(times[1].ms, 0.0);
}

TEST(DeviceProgram, RefusesWrongInputs) {
    Graph graph;
    graph.output("y", scale(graph.input("x", {DType::f32, {4}}), 2.0f));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    EXPECT_THROW(program.write("x", ramp(5)), InputError);
    EXPECT_THROW(program.write("z", ramp(4)), InputError);
    EXPECT_THROW(program.write("x", std::vector<std::int32_t>(4)), InputError);
    EXPECT_THROW(program.read("z"), InputError);
}

TEST(DeviceProgram, SaysWhereTheMemoryWouldGo) {
    Graph graph;
    const std::int64_t huge = std::int64_t{1} << 30;
    const Tensor x = graph.state("x", {DType::f32, {1 << 10, huge >> 10}});
    Tensor y = scale(x, 2.0f);
    for (int i = 0; i < 40; ++i) graph.output("y" + std::to_string(i), y = scale(y, 2.0f));
    State state(shared_device());
    try {
        const Program program(shared_device(), graph, state);
        FAIL() << "164 GiB were not refused";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("activations"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace vkf::test
