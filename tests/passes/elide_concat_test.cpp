// Values that are computed in their final place instead of copied there.
#include "passes/elide_concat.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "device_fixture.h"
#include "ops/attention/attention.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/flatten.h"
#include "ops/movement/view.h"
#include "passes/run_passes.h"
#include "program/program.h"

namespace vkf::test {
namespace {

constexpr std::int64_t width = 16;

struct Ran {
    std::vector<float> d_x, d_v;
    std::size_t dispatches;
    std::int64_t arena;
};

/// Gradient of x through attention between three slices of it. With `shared`, v is also used by another op; with
/// `watched`, the gradient of v is an output too.
Ran run(bool elided, bool shared, Format format, bool watched = false) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {2, 9, 3 * width}});
    const std::vector<Tensor> parts = split(scale(x, 0.5f), std::array{width, width, width});
    const Tensor o = attention(parts[0], parts[1], parts[2], {.heads = 2, .mask = {.causal = true}});
    const Tensor y = shared ? mul(o, parts[2]) : o;
    const Tensor d_y = graph.input("d_y", y.type());
    const auto d = gradients(std::span(&y, 1), std::span(&d_y, 1), std::array{x, parts[2]});
    graph.output("d_x", scale(d[0], 2.0f));
    if (watched) graph.output("d_v", scale(d[1], 2.0f));
    graph.activations = format;
    run_passes(graph, {.fuse_epilogue_add = false, .fuse_elementwise = false, .elide_concat = elided});
    State state(shared_device());
    Program program(shared_device(), graph, state);
    std::vector<float> numbers(static_cast<std::size_t>(x.elements()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i));
    program.write("x", numbers);
    numbers.resize(static_cast<std::size_t>(y.elements()));
    program.write("d_y", numbers);
    program.run();
    EXPECT_EQ(program.find_non_finite(), "");
    return {program.read("d_x"), watched ? program.read("d_v") : std::vector<float>{}, program.dispatches(),
            program.memory().arena};
}

TEST(DeviceElideConcat, GradientsOfSlicesAreMadeWhereTheyLie) {
    for (const Format format : {Format::f32, Format::bf16}) {
        const Ran copied = run(false, false, format), elided = run(true, false, format);
        EXPECT_EQ(elided.d_x, copied.d_x);
        EXPECT_EQ(elided.dispatches + 3, copied.dispatches);
        EXPECT_LT(elided.arena, copied.arena);
    }
}

TEST(DeviceElideConcat, WhatIsASumIsStillCopied) {
    const Ran copied = run(false, true, Format::f32), elided = run(true, true, Format::f32);
    EXPECT_EQ(elided.d_x, copied.d_x);
    EXPECT_EQ(elided.dispatches + 2, copied.dispatches);
}

TEST(DeviceElideConcat, WhatOthersReadStaysWhereItIs) {
    const Ran copied = run(false, false, Format::f32, true), elided = run(true, false, Format::f32, true);
    EXPECT_EQ(elided.d_x, copied.d_x);
    EXPECT_EQ(elided.d_v, copied.d_v);
}

/// Flattened tensors, and the result of a reader, with or without elide_concat.
std::vector<float> flat_of(bool elided, std::size_t& dispatches) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {64}}), y = graph.input("y", {DType::f32, {2, 8}});
    const Tensor doubled = scale(x, 2.0f), tripled = scale(y, 3.0f);
    const std::vector<Tensor> parts{doubled, slice(tripled, 0, 1, 1), reshape(scale(y, 5.0f), {16}), doubled, x};
    const Tensor flat = flatten(parts, FlatLayout({{64}, {1, 8}, {16}, {64}, {64}}));
    graph.output("flat", flat);
    graph.output("reads", scale(doubled, 4.0f));  // reads it in its place
    run_passes(graph, {.fuse_epilogue_add = false, .fuse_elementwise = false, .elide_concat = elided});
    const auto in_place = [&](std::size_t i) {
        const Node& node = graph.nodes()[graph.nodes().size() - 2];
        return graph.value(node.in[i]).storage == graph.value(flat).storage &&
               graph.value(node.in[i]).offset == FlatLayout({{64}, {1, 8}, {16}, {64}, {64}}).offsets[i];
    };
    // A whole storage; a part of one; a whole one with another shape; the first one again; an input.
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(in_place(i), elided && (i == 0 || i == 2)) << i;
    State state(shared_device());
    Program program(shared_device(), graph, state, {.guarded = true});
    std::vector<float> numbers(64);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
    program.write("x", numbers);
    program.write("y", std::span(numbers).first(16));
    program.run();
    EXPECT_EQ(program.damaged_guards(), "");
    dispatches = program.dispatches();
    std::vector<float> found = program.read("flat"), more = program.read("reads");
    found.insert(found.end(), more.begin(), more.end());
    return found;
}

TEST(DeviceElideConcat, WhatIsFlattenedIsMadeInItsPlaceIfItIsAllOfAStorage) {
    std::size_t elided = 0, copied = 0;
    EXPECT_EQ(flat_of(true, elided), flat_of(false, copied));
    EXPECT_EQ(elided, copied);  // one dispatch copies the rest and fills the gaps
}

}  // namespace
}  // namespace vkf::test
