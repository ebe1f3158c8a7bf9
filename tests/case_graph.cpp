#include "case_graph.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

#include "base/error.h"
#include "base/half.h"
#include "device_fixture.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::test {

namespace {

Shape widened(const Operand& operand) {
    return operand.type.shape.with_width(operand.type.shape.width() + operand.padding);
}

std::string input_name(std::size_t i) {
    return text('x', i);
}

/// x, or, if a 16-bit format is under test, a copy of x that may be stored in it.
Tensor narrowable(Tensor x) {
    return format_under_test() == Format::f32 || x.dtype() != DType::f32 ? x : scale(x, 1.0f);
}

/// Copy of a tensor that can be an output: dense, and not a view of an input.
Tensor computed(Tensor tensor) {
    const Tensor dense = contiguous(tensor);
    return dense.graph().storage(dense).role == Role::transient ? narrowable(dense) : scale(dense, 1.0f);
}

void write_inputs(Program& program, const Graph& graph, const Arrays& leaves) {
    for (const auto& [name, array] : leaves) {
        if (graph.input_named(name).dtype() == DType::f32)
            program.write(name, std::vector<float>(array.at.begin(), array.at.end()));
        else
            program.write(name, std::vector<std::int32_t>(array.at.begin(), array.at.end()));
    }
}

Bits read_outputs(const Program& program, const Graph& graph) {
    Bits bits;
    for (const auto& [name, tensor] : graph.outputs()) {
        if (tensor.dtype() == DType::f32) {
            bits[name] = program.read(name);
        } else {
            const std::vector<std::int32_t> values = program.read_ints(name);
            bits[name].assign(values.begin(), values.end());  // exact up to 2^24
        }
    }
    return bits;
}

void expect_same_bits(const Bits& a, const Bits& b, const char* what) {
    for (const auto& [name, values] : a)
        EXPECT_EQ(std::memcmp(values.data(), b.at(name).data(), values.size() * sizeof(float)), 0)
            << name << " differs: " << what;
}

}  // namespace

Format format_under_test() {
    const char* word = std::getenv("VKFORMER_TEST_FORMAT");
    if (!word) return Format::f32;
    return std::string_view(word) == "f16" ? Format::f16 : Format::bf16;
}

double packed_units(Format format) {
    return format == Format::f32 ? 0.0 : std::ldexp(2.0, format == Format::bf16 ? -8 : -10);
}

double packed_least(Format format) {
    return format == Format::f16 ? std::ldexp(2.0, -24) : std::ldexp(1.0, -126);
}

Arrays draw(const OpCase& c) {
    std::mt19937_64 random(1234);
    std::normal_distribution<double> normal;
    Arrays arrays;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
        const Operand& operand = c.operands[i];
        Array& array = arrays[input_name(i)] = {widened(operand), {}};
        const std::int64_t width = operand.type.shape.width(), wide = width + operand.padding;
        for (std::int64_t j = 0; j < array.shape.elements(); ++j) {
            if (j % wide >= width)
                array.at.push_back(std::nan(""));
            else if (!operand.values.empty())
                array.at.push_back(operand.values.at(static_cast<std::size_t>(j / wide * width + j % wide)));
            else if (operand.type.dtype == DType::i32)
                array.at.push_back(
                    static_cast<double>(std::uniform_int_distribution(operand.low, operand.high - 1)(random)));
            else  // rounded to fp32, as the device reads it
                array.at.push_back(
                    static_cast<double>(static_cast<float>(operand.centre + operand.spread * normal(random))));
        }
    }
    return arrays;
}

CaseGraph::CaseGraph(const OpCase& c, bool with_gradients) : leaves(draw(c)) {
    graph.activations = format_under_test();
    std::vector<Tensor> whole, operands;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
        const Operand& operand = c.operands[i];
        whole.push_back(graph.input(input_name(i), {operand.type.dtype, widened(operand)}));
        const Tensor x = kept[input_name(i)] = narrowable(whole[i]);
        operands.push_back(operand.padding ? slice(x, -1, 0, operand.type.shape.width()) : x);
    }
    const std::vector<Tensor> outputs = c.build(operands);
    for (std::size_t k = 0; k < outputs.size(); ++k) graph.output(text('y', k), computed(outputs[k]));
    if (!with_gradients) return;
    std::vector<Tensor> seeds, wrt;
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        const std::string name = text('w', k);
        seeds.push_back(kept[name] = narrowable(graph.input(name, outputs[k].type())));
        Array& weights = leaves[name] = {outputs[k].shape(), {}};
        for (std::int64_t j = 0; j < outputs[k].elements(); ++j)
            weights.at.push_back(static_cast<double>(static_cast<float>(normal(random))));
    }
    for (std::size_t i = 0; i < c.operands.size(); ++i)
        if (c.operands[i].differentiate && c.operands[i].type.dtype == DType::f32) wrt.push_back(operands[i]);
    const std::vector<Tensor> found = gradients(outputs, seeds, wrt);
    std::size_t next = 0;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
        if (!c.operands[i].differentiate || c.operands[i].type.dtype != DType::f32) continue;
        const Tensor gradient = found[next++];
        if (!gradient) throw Error("no gradient reaches operand ", i);
        gradient_names.push_back(text("d_x", i));
        graph.output(gradient_names.back(), computed(gradient));
    }
}

bool differentiable(const OpCase& c) {
    return std::any_of(c.operands.begin(), c.operands.end(),
                       [](const Operand& at) { return at.differentiate && at.type.dtype == DType::f32; });
}

Arrays as_kept(const CaseGraph& made) {
    Arrays arrays = made.leaves;
    for (auto& [name, array] : arrays) {
        const Format format = made.kept.at(name).format();
        if (format == Format::f32) continue;
        for (double& x : array.at) {
            const auto value = static_cast<float>(x);
            x = static_cast<double>(format == Format::bf16 ? from_bfloat16(to_bfloat16(value))
                                                           : from_half(to_half(value)));
        }
    }
    return arrays;
}

Bits run_checked(CaseGraph& made, const ProgramOptions& lowering) {
    Device& device = shared_device();
    State state(device);
    ProgramOptions with_guards = lowering;
    with_guards.guarded = true;
    Program guarded(device, made.graph, state, with_guards);
    write_inputs(guarded, made.graph, made.leaves);
    guarded.run();
    EXPECT_EQ(guarded.damaged_guards(), "");
    const Bits first = read_outputs(guarded, made.graph);
    guarded.run();
    expect_same_bits(first, read_outputs(guarded, made.graph), "second run");
    Program plain(device, made.graph, state, lowering);
    write_inputs(plain, made.graph, made.leaves);
    plain.run();
    expect_same_bits(first, read_outputs(plain, made.graph), "with shared memory");
    return first;
}

}  // namespace vkf::test
