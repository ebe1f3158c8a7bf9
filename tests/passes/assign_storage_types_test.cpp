// Tensors of a graph that are stored in 16 bits, and casts between them and the others.
#include "passes/assign_storage_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "graph/reference.h"
#include "ops/attention/attention.h"
#include "ops/attention/project_out.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"
#include "ops/rows/reduce.h"
#include "ops/rows/softmax.h"
#include "passes/run_passes.h"
#include "program/program.h"

namespace vkf::test {
namespace {

constexpr std::int64_t WIDTH = 24, HEADS = 3;

using Signal = std::function<Tensor(Tensor o, Tensor v)>;

/// Component of o that is perpendicular to v, as the op, and as the plain ops that define it.
Tensor as_an_op(Tensor o, Tensor v) {
    return project_out(o, v, HEADS);
}
Tensor as_a_formula(Tensor o, Tensor v) {
    project_out(o, v, HEADS);  // no op reads it, so it is not computed
    const Node node = o.graph().nodes().back();
    return node.op->expand(node.in).front();
}

/// A layer of attention over a residual stream, with the gradients of its maps.
struct Layer {
    Graph graph;
    Tensor qkv, o, signal, y;
    std::vector<Tensor> parts;

    explicit Layer(const Signal& signal_of, const std::function<void(Layer&)>& look = {}) {
        graph.activations = Format::bf16;
        const Tensor x = graph.input("x", {DType::f32, {2, 10, WIDTH}}), d_y = graph.input("d_y", x.type());
        const std::vector weights{graph.state("qkv", {DType::f32, {WIDTH, 3 * WIDTH}}),
                                  graph.state("proj", {DType::f32, {WIDTH, WIDTH}})};
        qkv = matmul(layer_norm(x, {}, {}, 1e-5f), weights[0]);
        parts = split(qkv, std::array{WIDTH, WIDTH, WIDTH});
        o = attention(parts[0], parts[1], parts[2], {.heads = HEADS, .mask = {.causal = true}});
        signal = signal_of(o, parts[2]);
        y = add(x, matmul(signal, weights[1]));
        const std::vector<Tensor> d = gradients(std::span(&y, 1), std::span(&d_y, 1), weights);
        graph.output("d_qkv", d[0]);
        graph.output("d_proj", d[1]);
        if (look) look(*this);
        run_passes(graph);
    }

    /// Formats of the layer's tensors, and of the gradients of attention's operands.
    std::vector<Format> formats() const {
        std::vector<Format> list{qkv.format(), o.format(), signal.format(), y.format()};
        for (const Node& node : graph.nodes())
            if (node.op->name() == "attention_backward")
                for (const Tensor& d : node.out) list.push_back(d.format());
        return list;
    }
};

const std::vector attended{Format::bf16, Format::bf16, Format::bf16, Format::f32,
                           Format::bf16, Format::bf16, Format::bf16};

TEST(HostStorageTypes, AFormulaOfPlainOpsKeepsWhatItsOpKeeps) {
    EXPECT_EQ(Layer(as_an_op).formats(), attended);
    EXPECT_EQ(Layer(as_a_formula).formats(), attended);
}

TEST(HostStorageTypes, OutputsDoNotChangeWhatTheyLookAt) {
    const Layer watched(as_a_formula, [](Layer& at) {
        at.graph.output("qkv", at.qkv);
        at.graph.output("k", contiguous(at.parts[1]));
        at.graph.output("o", at.o);
        at.graph.output("signal", at.signal);
    });
    EXPECT_EQ(watched.formats(), attended);
    for (const NamedTensor& output : watched.graph.outputs())
        EXPECT_EQ(output.tensor.format(), Format::f32) << output.name;
}

TEST(HostStorageTypes, WhoNeedsFp32ReadsACopy) {
    // A copy that makes the last axis the first cannot split words of two elements.
    const Layer watched(as_an_op, [](Layer& at) {
        at.graph.output("turned", permute(reshape(at.qkv, {20, 3 * WIDTH}), std::array{1, 0}));
    });
    EXPECT_EQ(watched.formats(), attended);
    const auto turned =
        std::ranges::find_if(watched.graph.nodes(), [](const Node& node) { return node.op->name() == "permute"; });
    ASSERT_NE(turned, watched.graph.nodes().end());
    EXPECT_EQ(turned->in[0].format(), Format::f32);
}

TEST(HostStorageTypes, AnOperandInFp32IsCast) {
    Graph graph;
    graph.activations = Format::bf16;
    const Tensor x = graph.input("x", {DType::f32, {2, 10, WIDTH}}), d_y = graph.input("d_y", x.type());
    const Tensor weight = graph.state("qkv", {DType::f32, {WIDTH, 3 * WIDTH}});
    const Tensor qkv = matmul(x, weight);
    const std::vector<Tensor> parts = split(qkv, std::array{WIDTH, WIDTH, WIDTH});
    const Tensor y = add(x, attention(parts[0], parts[1], parts[2], {.heads = HEADS}));  // its gradient is fp32
    graph.output("d", gradients(std::span(&y, 1), std::span(&d_y, 1), std::span(&weight, 1)).front());
    run_passes(graph);
    EXPECT_EQ(qkv.format(), Format::bf16);
    const auto of = [&](const char* name) {
        const auto found =
            std::ranges::find_if(graph.nodes(), [&](const Node& node) { return node.op->name() == name; });
        return found == graph.nodes().end() ? Node{} : *found;
    };
    const Node copy = of("cast"), backward = of("attention_backward");
    ASSERT_EQ(copy.in.size(), 1u);
    EXPECT_EQ(copy.in[0], d_y);
    EXPECT_EQ(copy.out[0].format(), Format::bf16);
    EXPECT_NE(std::ranges::find(backward.in, copy.out[0]), backward.in.end());
    for (const Tensor& d : backward.out) EXPECT_EQ(d.format(), Format::bf16);
}

TEST(HostStorageTypes, SumsAreKeptNoWorseThanTheirTermsAndLogitsWhole) {
    Graph graph;
    graph.activations = Format::bf16;
    const Tensor x = graph.input("x", {DType::f32, {64, 8}}), w = graph.state("w", {DType::f32, {8, 8}});
    const Tensor a = matmul(x, w), b = add(a, x), c = mul(a, row_sum(a)), logits = matmul(c, w);
    graph.output("b", matmul(b, w));
    graph.output("logits", logits);
    run_passes(graph, only_storage_types);
    EXPECT_EQ(a.format(), Format::bf16);
    EXPECT_EQ(b.format(), Format::f32);
    EXPECT_EQ(c.format(), Format::bf16) << "a row's statistic is a factor, not a term";
    EXPECT_EQ(logits.format(), Format::f32);
    EXPECT_EQ(graph.storage(b).why_f32, "add makes it from fp32 [64, 8]");
    EXPECT_EQ(graph.storage(logits).why_f32, "no kernel reads it");
    EXPECT_EQ(graph.storage(a).why_f32, "");
}

TEST(HostStorageTypes, AttentionToWhatIsMostlyFp32StaysSo) {
    Graph graph;
    graph.activations = Format::bf16;
    const Tensor x = graph.input("x", {DType::f32, {1, 6, 8}}), q = scale(x, 2.0f);
    const Tensor cache = graph.state("cache", {DType::f32, {1, 6, 8}});
    const Tensor y = attention(q, x, x, {.heads = 2}), z = attention(q, cache, q, {.heads = 2});
    graph.output("y", scale(add(y, z), 1.0f));
    const std::size_t nodes = graph.nodes().size();
    run_passes(graph, only_storage_types);
    EXPECT_EQ(q.format(), Format::f32);
    EXPECT_EQ(graph.nodes().size(), nodes);
}

TEST(DeviceStorageTypes, OneFactorForAllMakesWholePairs) {
    Graph graph;
    graph.activations = Format::f16;
    const Tensor x = graph.input("x", {DType::f32, {3, 6}}), factor = graph.input("factor", {DType::f32, {}});
    const Tensor y = mul(scale(x, 1.0f), factor);
    graph.output("y", scale(y, 1.0f));
    run_passes(graph, only_storage_types);
    ASSERT_EQ(y.format(), Format::f16);
    State state(shared_device());
    Program program(shared_device(), graph, state, {.guarded = true});
    std::vector<float> numbers(18), wanted;
    for (std::size_t i = 0; i < numbers.size(); ++i) wanted.push_back(3 * (numbers[i] = static_cast<float>(i)));
    program.write("x", numbers);
    program.write("factor", std::array{3.0f});
    program.run();
    EXPECT_EQ(program.damaged_guards(), "");
    EXPECT_EQ(program.read("y"), wanted);
}

/// Kernels round in the same places as the interpreter, so they differ only by a few roundings to the other neighbour:
/// a sum of hundreds is off by far less than one such rounding, 2^-8 of its largest term.
TEST(DeviceStorageTypes, CastsComputeAsTheInterpreterDoes) {
    for (const Signal& signal : {Signal(as_an_op), Signal(as_a_formula)}) {
        Layer layer(signal, [](Layer& at) { at.graph.output("k", contiguous(at.parts[1])); });
        State state(shared_device());
        Program program(shared_device(), layer.graph, state, {.guarded = true});
        Arrays leaves;
        const auto draw = [&](const std::string& name, const Shape& shape, double spread) {
            std::vector<float> numbers;
            for (std::int64_t i = 0; i < shape.elements(); ++i)
                numbers.push_back(static_cast<float>(spread * std::sin(static_cast<double>(i * i + std::ssize(name)))));
            leaves[name] = {shape, {numbers.begin(), numbers.end()}};
            return numbers;
        };
        program.write("x", draw("x", {2, 10, WIDTH}, 1.0));
        program.write("d_y", draw("d_y", {2, 10, WIDTH}, 1.0));
        state.write("qkv", draw("qkv", {WIDTH, 3 * WIDTH}, 0.3));
        state.write("proj", draw("proj", {WIDTH, WIDTH}, 0.3));
        program.run();
        EXPECT_EQ(program.damaged_guards(), "");
        for (const auto& [name, wanted] : interpret(layer.graph, leaves)) {
            const std::vector<float> found = program.read(name);
            double largest = 0;
            for (const double at : wanted.at) largest = std::max(largest, std::abs(at));
            for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_NEAR(found[i], wanted.at[i], 0x1p-8 * largest) << name << ", element " << i;
        }
    }
}

}  // namespace
}  // namespace vkf::test
