// Derivatives of activations, fused into the epilogues of products.
#include "passes/fuse_activation_backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "graph/reference.h"
#include "op_check.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "passes/run_passes.h"
#include "program/program.h"

namespace vkf::test {
namespace {

std::int64_t count(const Graph& graph, std::string_view name) {
    return std::ranges::count_if(graph.nodes(), [&](const Node& node) { return node.op->name() == name; });
}

/// Adds the gradients of an MLP block, [rows, 12] to [rows, 10], with respect to its input and its first weight.
void add_mlp(Graph& graph, std::int64_t rows, Activation kind) {
    const Tensor x = scale(graph.input("x", {DType::f32, {rows, 12}}), 0.5f);
    const Tensor first = graph.input("first", {DType::f32, {26, 12}}), bias = graph.input("bias", {DType::f32, {26}});
    const Tensor second = graph.input("second", {DType::f32, {10, 26}});
    const Tensor h = matmul(x, first, {.transpose_b = true, .bias = bias});
    const Tensor y = matmul(activate(h, kind), second, {.transpose_b = true});
    const Tensor d_y = scale(graph.input("d_y", y.type()), 0.5f);
    const std::vector<Tensor> wrt{x, first};
    const std::vector<Tensor> found = gradients(std::span(&y, 1), std::span(&d_y, 1), wrt);
    graph.output("d_x", found[0]);
    graph.output("d_first", found[1]);
}

TEST(HostFuseActivationBackward, OnGpusAlone) {
    for (const Activation kind : {Activation::gelu, Activation::relu}) {
        const std::string backward = kind == Activation::gelu ? "gelu_backward" : "relu_backward";
        Graph of_cpu, of_gpu, plain;
        for (Graph* graph : {&of_cpu, &of_gpu, &plain}) add_mlp(*graph, 20, kind);
        run_passes(of_cpu, passes_for({.cpu = true}));
        run_passes(of_gpu, passes_for({.cpu = false}));
        run_passes(plain);
        EXPECT_EQ(count(of_cpu, backward), 1);
        EXPECT_EQ(of_cpu.dump(), plain.dump());
        EXPECT_EQ(count(of_gpu, backward), 0);
        EXPECT_EQ(of_gpu.nodes().size() + 1, plain.nodes().size());
    }
}

/// The argument is read in its stored format, and results are stored in the same formats as without the pass.
TEST(HostFuseActivationBackward, ChangesNoFormat) {
    for (const Format format : {Format::bf16, Format::f16}) {
        std::vector<std::int64_t> kept;
        for (const bool fused : {false, true}) {
            Graph graph;
            add_mlp(graph, 20, Activation::gelu);
            graph.activations = format;
            run_passes(graph, {.fuse_activation_backward = fused});
            std::int64_t narrow = 0;
            for (const Node& node : graph.nodes()) narrow += node.out[0].format() == format;
            kept.push_back(narrow);
            EXPECT_EQ(count(graph, "cast"), 0);
        }
        EXPECT_EQ(kept[1], kept[0] - 1);  // without the gradient that is no longer computed
    }
}

/// Checks that the slope that `finish` adds to a graph stays a separate node.
void expect_apart(const std::function<void(Graph&, Tensor x, Tensor d_y, Tensor b)>& finish) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4, 8}}), d_y = graph.input("d_y", {DType::f32, {4, 6}});
    finish(graph, x, d_y, graph.input("b", {DType::f32, {6, 8}}));
    const std::string before = graph.dump();
    fuse_activation_backward(graph);
    EXPECT_EQ(graph.dump(), before);
}

TEST(HostFuseActivationBackward, StaysWhereTheGradientIsReadTwice) {
    expect_apart([](Graph& graph, Tensor x, Tensor d_y, Tensor b) {
        const Tensor d_g = matmul(d_y, b);
        graph.output("d_h", activate_backward(x, d_g, Activation::gelu));
        graph.output("d_g", d_g);
    });
}

TEST(HostFuseActivationBackward, StaysWhereItsPlaceIsMadeLater) {
    expect_apart([](Graph& graph, Tensor x, Tensor d_y, Tensor b) {
        const Tensor d_g = matmul(d_y, b);
        graph.output("d_h", activate_backward(scale(x, 2.0f), d_g, Activation::gelu));
    });
}

TEST(HostFuseActivationBackward, StaysWhereShapesDiffer) {
    expect_apart([](Graph& graph, Tensor x, Tensor d_y, Tensor b) {
        const Tensor d_g = reshape(matmul(d_y, b), {8, 4});
        graph.output("d_h", activate_backward(reshape(x, {8, 4}), d_g, Activation::gelu));
    });
}

TEST(HostFuseActivationBackward, StaysBehindAnotherEpilogue) {
    expect_apart([](Graph& graph, Tensor x, Tensor d_y, Tensor b) {
        graph.output("a", activate_backward(x, matmul(d_y, b, {.addend = x}), Activation::gelu));
        const Tensor squashed = matmul(d_y, b, {.activation = Activation::relu});
        graph.output("b", activate_backward(x, squashed, Activation::gelu));
        graph.output("c", activate_backward(x, matmul(d_y, b, {.pre_activation = x}), Activation::gelu));
    });
}

/// Only the product that computes the gradient is fused, not one that computes the activation's argument.
TEST(HostFuseActivationBackward, IsNotTakenOfTheProduct) {
    expect_apart([](Graph& graph, Tensor x, Tensor d_y, Tensor b) {
        graph.output("y", activate_backward(matmul(d_y, b), x, Activation::gelu));
    });
}

/// Kernels equal the interpreter on the same graph, which rounds in the same places: so the derivative is taken at the
/// stored argument.
class DeviceFuseActivationBackward : public ::testing::TestWithParam<Format> {};

TEST_P(DeviceFuseActivationBackward, GradientsOfAnMlp) {
    const Format format = GetParam();
    for (const std::int64_t rows : {3, 37}) {  // as in decoding, and more
        SCOPED_TRACE(testing::Message() << rows << " rows");
        Graph graph;
        add_mlp(graph, rows, rows == 3 ? Activation::gelu : Activation::gelu_tanh);
        graph.activations = format;
        const std::size_t before = graph.nodes().size();
        fuse_activation_backward(graph);
        EXPECT_EQ(graph.nodes().size() + 1, before);
        State state(shared_device());
        Program program(shared_device(), graph, state, {.guarded = true, .traits = traits_of_gpu(shared_device())});
        Arrays leaves;
        for (const Storage& at : graph.storages()) {
            if (at.role != Role::input) continue;
            std::vector<float> wave(static_cast<std::size_t>(at.type.shape.elements()));
            for (std::size_t i = 0; i < wave.size(); ++i)
                wave[i] = std::sin(0.7f * static_cast<float>(i * i % 97) + static_cast<float>(at.name.size()));
            program.write(at.name, wave);
            leaves[at.name] = {at.type.shape, {wave.begin(), wave.end()}};
        }
        program.run();
        EXPECT_EQ(program.damaged_guards(), "");
        // Values close to the middle between two 16-bit numbers may be rounded to either: h, then d_h; results
        // computed from them differ by a few such roundings.
        const double unit = format == Format::f32 ? 0x1p-21 : format == Format::bf16 ? 0x1p-7 : 0x1p-10;
        for (const auto& [name, want] : interpret(graph, leaves)) {
            double largest = 0;
            for (const double w : want.at) largest = std::max(largest, std::abs(w));
            const std::vector<float> found = program.read(name);
            for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_NEAR(static_cast<double>(found[i]), want.at[i], unit * largest) << name << ' ' << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, DeviceFuseActivationBackward,
                         ::testing::Values(Format::f32, Format::bf16, Format::f16));

}  // namespace
}  // namespace vkf::test
