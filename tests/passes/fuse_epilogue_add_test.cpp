// Sums computed by the kernel that computes one of their terms.
#include "passes/fuse_epilogue_add.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "op_check.h"
#include "ops/attention/attention.h"
#include "ops/attention/project_out.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"
#include "passes/run_passes.h"
#include "program/program.h"

namespace vkf::test {
namespace {

struct Ran {
    std::vector<float> d_x;
    std::size_t dispatches;
};

/// Gradient of f at x in the direction of a sine.
struct Gradient {
    Shape shape;
    std::function<Tensor(Tensor)> f;

    Ran run(bool fused, bool in_place, Format format, std::optional<DeviceTraits> traits = {}) const {
        Graph graph;
        const Tensor x = graph.input("x", {DType::f32, shape});
        const Tensor y = f(scale(x, 0.5f));
        const Tensor d_y = graph.input("d_y", y.type());
        graph.output("d_x", scale(gradients(std::span(&y, 1), std::span(&d_y, 1), std::span(&x, 1)).front(), 2.0f));
        graph.activations = format;
        run_passes(graph, {.fuse_epilogue_add = fused, .fuse_elementwise = false, .elide_concat = in_place});
        State state(shared_device());
        Program program(shared_device(), graph, state, {.traits = traits});
        const auto wave = [](std::int64_t count) {
            std::vector<float> numbers(static_cast<std::size_t>(count));
            for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i));
            return numbers;
        };
        program.write("x", wave(x.elements()));
        program.write("d_y", wave(y.elements()));
        program.run();
        EXPECT_EQ(program.find_non_finite(), "");
        return {program.read("d_x"), program.dispatches()};
    }
};

void expect_alike(const std::vector<float>& fused, const std::vector<float>& plain, double part) {
    ASSERT_EQ(fused.size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i)
        ASSERT_NEAR(fused[i], plain[i], part * (1.0 + std::abs(static_cast<double>(plain[i])))) << i;
}

/// A device may contract the sum with the product before it, which saves one rounding of about this size.
constexpr double rounding = 8.0 / (1 << 24);

TEST(DeviceFuseEpilogueAdd, ResidualConnectionsAroundNorms) {
    for (const std::int64_t width : {33, 128, 4200})  // 4200 is more than registers hold
        for (const bool center : {true, false}) {
            const Gradient gradient{{2, 5, width}, [&](Tensor x) {
                                        return add(x, center ? layer_norm(x, {}, {}, 1e-5f) : rms_norm(x, {}, 1e-5f));
                                    }};
            const Ran plain = gradient.run(false, false, Format::f32), fused = gradient.run(true, false, Format::f32);
            EXPECT_EQ(fused.dispatches + 1, plain.dispatches);
            expect_alike(fused.d_x, plain.d_x, rounding);
        }
}

/// Belief attention: values affect the result in two ways.
Gradient belief(std::int64_t width) {
    return {{2, 19, 3 * width}, [width](Tensor x) {
                const std::vector<Tensor> parts = split(x, std::array{width, width, width});
                const Tensor o = attention(parts[0], parts[1], parts[2], {.heads = 3, .mask = {.causal = true}});
                return project_out(o, parts[2], 1);
            }};
}

TEST(DeviceFuseEpilogueAdd, ValuesThatAreAlsoProjectedOn) {
    const Gradient gradient = belief(24);
    for (const Format format : {Format::f32, Format::bf16}) {
        // Fusion removes the sum, and then the copy into its place.
        const Ran plain = gradient.run(false, true, format), fused = gradient.run(true, true, format);
        EXPECT_EQ(fused.dispatches + 2, plain.dispatches);
        expect_alike(fused.d_x, plain.d_x, format == Format::f32 ? rounding : 1.0 / 64);
    }
}

TEST(DeviceCooperativeFuseEpilogueAdd, ValuesThatAreAlsoProjectedOn) {
    const DeviceTraits traits = traits_with_matrices(shared_device());
    if (!traits.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    for (const std::int64_t width : {24, 33}) {  // even and odd heads
        const Gradient gradient = belief(width);
        const Ran plain = gradient.run(false, true, Format::f32, traits),
                  fused = gradient.run(true, true, Format::f32, traits);
        EXPECT_EQ(fused.dispatches + 2, plain.dispatches);
        expect_alike(fused.d_x, plain.d_x, rounding);
    }
}

/// Checks that none of the sums that `finish` adds to a graph with a norm's gradient d_y is fused.
void expect_apart(const std::function<void(Graph&, Tensor x, Tensor y, Tensor d_y)>& finish) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4, 8}});
    const Tensor y = scale(x, 3.0f);
    const Tensor normed = layer_norm(y, {}, {}, 1e-5f);
    finish(graph, x, y, gradients(std::span(&normed, 1), std::span(&x, 1), std::span(&y, 1)).front());
    const std::size_t nodes = graph.nodes().size();
    fuse_epilogue_add(graph);
    EXPECT_EQ(graph.nodes().size(), nodes);
}

TEST(DeviceFuseEpilogueAdd, TermsThatOthersReadStay) {
    expect_apart([](Graph& graph, Tensor, Tensor y, Tensor d_y) {
        graph.output("sum", add(y, d_y));
        graph.output("term", d_y);
    });
}

TEST(DeviceFuseEpilogueAdd, TermsMadeBeforeTheirAddendStay) {
    expect_apart([](Graph& graph, Tensor x, Tensor, Tensor d_y) { graph.output("sum", add(scale(x, 2.0f), d_y)); });
}

}  // namespace
}  // namespace vkf::test
