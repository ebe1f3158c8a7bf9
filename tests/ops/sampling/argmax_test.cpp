#include "ops/sampling/argmax.h"

#include <array>
#include <limits>

#include "base/error.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "program/program.h"

namespace vkf::test {
namespace {

/// Equal numbers, infinities and NaN at distant places, which different lanes and workgroups read.
TEST(DeviceArgmaxTies, AreSettledAcrossLanes) {
    constexpr std::size_t width = 1000;
    constexpr std::array<std::array<std::size_t, 2>, 4> places{{{3, 700}, {998, 999}, {0, 512}, {64, 65}}};
    std::vector<float> values(places.size() * width, -1.0f);
    for (std::size_t row = 0; row < places.size(); ++row)
        for (const std::size_t at : places[row])
            values[row * width + at] = row % 2 ? std::numeric_limits<float>::quiet_NaN() : 5.0f;
    Graph graph;
    const Shape shape{static_cast<std::int64_t>(places.size()), static_cast<std::int64_t>(width)};
    graph.output("y", argmax(graph.input("x", {DType::f32, shape})));
    for (const bool cpu : {true, false}) {
        State state(shared_device());
        Program program(shared_device(), graph, state,
                        {.traits = cpu ? traits(shared_device()) : traits_of_gpu(shared_device())});
        program.write("x", values);
        program.run();
        EXPECT_EQ(program.read_ints("y"), (std::vector<std::int32_t>{3, 998, 0, 64}));
        EXPECT_THROW(program.read("y"), InputError);
    }
}

TEST(HostArgmaxShapes, WantsNumbersToChooseFrom) {
    Graph graph;
    EXPECT_EQ(argmax(graph.input("x", {DType::f32, {4, 5, 6}})).type(), (TensorType{DType::i32, {4, 5}}));
    EXPECT_EQ(argmax(graph.input("v", {DType::f32, {4}})).type(), (TensorType{DType::i32, {}}));
    EXPECT_THROW(argmax(graph.input("empty", {DType::f32, {4, 0}})), InputError);
    EXPECT_THROW(argmax(graph.input("s", {DType::f32, {}})), InputError);
    EXPECT_THROW(argmax(graph.input("i", {DType::i32, {4}})), InputError);
}

}  // namespace
}  // namespace vkf::test
