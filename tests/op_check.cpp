#include "op_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/error.h"
#include "base/half.h"
#include "device_fixture.h"
#include "graph/fold.h"
#include "graph/fuse.h"
#include "graph/narrow.h"
#include "ops/backward.h"
#include "ops/ops.h"
#include "program/program.h"

namespace vkf::test {

namespace {

Shape widened(const Operand& operand) {
    return operand.type.shape.with_width(operand.type.shape.width() + operand.padding);
}

std::string input_name(std::size_t i) {
    return text('x', i);
}

/// With VKFORMER_TEST_FORMAT set to bf16 or f16, whatever may be kept in 16 bits is: see narrow().
Format format_under_test() {
    const char* word = std::getenv("VKFORMER_TEST_FORMAT");
    if (!word) return Format::f32;
    return std::string_view(word) == "f16" ? Format::f16 : Format::bf16;
}

/// What packing may change beside the interpreter, which rounds what is kept in 16 bits, as kernels do. A number that
/// lies next to the middle between two others may be rounded to either: that is one unit in the last place, and another
/// by those it was made from.
double packed_units(Format format) {
    return format == Format::f32 ? 0.0 : std::ldexp(2.0, format == Format::bf16 ? -8 : -10);
}

/// The same near 0, where fp16's numbers are 2^-24 apart.
double packed_least(Format format) {
    return format == Format::f16 ? std::ldexp(2.0, -24) : 0.0;
}

/// x, or where 16 bits are under test a copy of it that may be kept so.
Tensor narrowable(Tensor x) {
    return format_under_test() == Format::f32 || x.dtype() != DType::f32 ? x : scale(x, 1.0f);
}

/// Something a program can hand out: dense, and no mere view of an input.
Tensor computed(Tensor tensor) {
    const Tensor dense = contiguous(tensor);
    return dense.graph().storage(dense).role == Role::transient ? narrowable(dense) : scale(dense, 1.0f);
}

/// A case as a graph: inputs, outputs "y0", …, and for each differentiable operand its gradient "d_x0", … of
/// Σ <output, weight>, with weights as further inputs "w0", ….
struct CaseGraph {
    Graph graph;
    Arrays leaves;
    std::map<std::string, Tensor> kept;  // what becomes of a leaf before an op sees it
    std::vector<std::string> gradient_names;

    CaseGraph(const OpCase& c, bool with_gradients) : leaves(draw(c)) {
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
};

double objective(const Graph& graph, const Arrays& leaves, std::size_t outputs) {
    const Arrays results = interpret(graph, leaves);
    double sum = 0;
    for (std::size_t k = 0; k < outputs; ++k) {
        const Array& y = results.at(text('y', k));
        const Array& w = leaves.at(text('w', k));
        for (std::size_t i = 0; i < y.at.size(); ++i) sum += y.at[i] * w.at[i];
    }
    return sum;
}

/// Every element of small operands, a spread of 64 of large ones, by central differences.
void check_finite_differences(const OpCase& c) {
    CaseGraph made(c, true);
    const Arrays results = interpret(made.graph, made.leaves);
    std::size_t outputs = 0;
    while (results.contains(text('y', outputs))) ++outputs;
    for (const std::string& name : made.gradient_names) {
        const std::string operand = name.substr(2);
        const auto index = static_cast<std::size_t>(std::stoul(operand.substr(1)));
        const Array& gradient = results.at(name);
        double scale = 1e-3;
        for (const double g : gradient.at) scale = std::max(scale, std::abs(g));
        const auto width = static_cast<std::size_t>(c.operands[index].type.shape.width());
        const std::size_t count = gradient.at.size();
        const std::size_t stride = std::max<std::size_t>(1, count / 64);
        for (std::size_t i = 0; i < count; i += stride) {
            const std::size_t at =
                i / width * (width + static_cast<std::size_t>(c.operands[index].padding)) + i % width;
            const double x = made.leaves.at(operand).at[at];
            const double h = 1e-5 * std::max(1.0, std::abs(x));
            made.leaves[operand].at[at] = x + h;
            const double up = objective(made.graph, made.leaves, outputs);
            made.leaves[operand].at[at] = x - h;
            const double down = objective(made.graph, made.leaves, outputs);
            made.leaves[operand].at[at] = x;
            // Truncation is O(h²) and rounding O(1e-16 · objective / h): both well below this.
            EXPECT_NEAR(gradient.at[i], (up - down) / (2 * h), 2e-6 * scale)
                << "operand " << index << ", element " << i << " of " << gradient.shape;
        }
    }
}

void check_expansion(const OpCase& c) {
    const CaseGraph made(c, false);
    Arrays values = made.leaves;
    for (const Node& node : made.graph.nodes()) {
        std::vector<Array> in;
        std::vector<TensorType> types;
        bool known = true;
        for (const Tensor& tensor : node.in) {
            const bool leaf = tensor && made.graph.storage(tensor).role == Role::input && !node.is_view();
            known = known && (!tensor || (leaf && tensor.type() == made.graph.storage(tensor).type));
            types.push_back(tensor ? tensor.type() : TensorType{DType::f32, {0}});
            if (known) in.push_back(tensor ? values.at(made.graph.storage(tensor).name) : Array{{0}, {}});
        }
        Graph scratch;
        std::vector<Tensor> copies;
        for (std::size_t i = 0; i < types.size(); ++i)
            copies.push_back(node.in[i] ? scratch.input(text("in", i), types[i]) : Tensor());
        const std::vector<Tensor> plain = known ? node.op->expand(copies) : std::vector<Tensor>();
        if (plain.empty()) continue;
        std::vector<Array> direct;
        for (const TensorType& type : node.op->infer(types))
            direct.push_back({type.shape, std::vector<double>(static_cast<std::size_t>(type.shape.elements()))});
        if (!node.op->reference(in, direct)) continue;
        Arrays leaves;
        for (std::size_t i = 0; i < in.size(); ++i)
            if (node.in[i]) leaves[text("in", i)] = in[i];
        for (std::size_t k = 0; k < plain.size(); ++k) scratch.output(text("out", k), contiguous(plain[k]));
        const Arrays expanded = interpret(scratch, leaves);
        for (std::size_t k = 0; k < plain.size(); ++k) {
            const Array& other = expanded.at(text("out", k));
            ASSERT_EQ(other.shape, direct[k].shape);
            for (std::size_t i = 0; i < other.at.size(); ++i)
                EXPECT_NEAR(direct[k].at[i], other.at[i], 1e-11 * (1 + std::abs(other.at[i])))
                    << node.op->name() << ": output " << k << ", element " << i;
        }
    }
}

/// The leaves as ops see them: rounded where they are kept in 16 bits.
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

void write_inputs(Program& program, const Graph& graph, const Arrays& leaves) {
    for (const auto& [name, array] : leaves) {
        if (graph.input_named(name).dtype() == DType::f32)
            program.write(name, std::vector<float>(array.at.begin(), array.at.end()));
        else
            program.write(name, std::vector<std::int32_t>(array.at.begin(), array.at.end()));
    }
}

DeviceTraits as_gpu(DeviceTraits made) {
    made.cpu = false;
    return made;
}

/// With VKFORMER_TEST_AS_GPU set, as for a GPU.
std::optional<DeviceTraits> traits_under_test(const Device& device) {
    if (!std::getenv("VKFORMER_TEST_AS_GPU")) return std::nullopt;
    return traits_of_gpu(device);
}

using Bits = std::map<std::string, std::vector<float>>;

Bits read_outputs(const Program& program, const Graph& graph) {
    Bits bits;
    for (const NamedTensor& output : graph.outputs()) bits[output.name] = program.read(output.name);
    return bits;
}

void expect_same_bits(const Bits& a, const Bits& b, const char* what) {
    for (const auto& [name, values] : a)
        EXPECT_EQ(std::memcmp(values.data(), b.at(name).data(), values.size() * sizeof(float)), 0)
            << name << " differs: " << what;
}

/// Runs a case, compares guard bands, a second run and a run with shared memory, and returns what it computed.
Bits run_checked(const CaseGraph& made, const ProgramOptions& lowering) {
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

bool differentiable(const OpCase& c) {
    return std::any_of(c.operands.begin(), c.operands.end(),
                       [](const Operand& at) { return at.differentiate && at.type.dtype == DType::f32; });
}

void check_lowered(const OpCase& c, CaseGraph& made, const ProgramOptions& lowering) {
    const Format format = format_under_test();
    narrow(made.graph, format);
    const Arrays wanted = interpret(made.graph, made.leaves);
    const Bits found = run_checked(made, lowering);
    for (const auto& [name, values] : found) {
        const Array& want = wanted.at(name);
        double scale = 0;
        for (const double w : want.at) scale = std::max(scale, std::abs(w));
        const double limit =
            ((name[0] == 'd' ? c.gradient_ulps : c.ulps) * std::ldexp(1.0, -24) + packed_units(format)) *
            std::max(scale, 1e-30);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double error = std::abs(static_cast<double>(values[i]) - want.at[i]);
            const bool out_of_range = format != Format::f32 && std::isnan(values[i]) && std::isnan(want.at[i]);
            if (error <= limit || out_of_range) continue;
            ADD_FAILURE() << name << ", element " << i << " of " << want.shape << ": " << values[i] << ", wanted "
                          << want.at[i] << " (off by " << error / scale * std::ldexp(1.0, 24)
                          << " ulps of the largest)";
            break;
        }
    }
}

void check_lowered(const OpCase& c, const ProgramOptions& lowering) {
    CaseGraph apart(c, differentiable(c)), fused(c, differentiable(c));
    fold_sums(apart.graph);
    check_lowered(c, apart, lowering);
    fold_sums(fused.graph);
    fuse_chains(fused.graph);
    if (fused.graph.nodes().size() < apart.graph.nodes().size()) check_lowered(c, fused, lowering);
}

}  // namespace

std::string case_name(const ::testing::TestParamInfo<OpCase>& info) {
    std::string name;
    for (const char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
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
                array.at.push_back(operand.values[array.at.size()]);
            else if (operand.type.dtype == DType::i32)
                array.at.push_back(
                    static_cast<double>(std::uniform_int_distribution(operand.low, operand.high - 1)(random)));
            else  // exactly what the device will see
                array.at.push_back(
                    static_cast<double>(static_cast<float>(operand.centre + operand.spread * normal(random))));
        }
    }
    return arrays;
}

void check_mathematics(const OpCase& c) {
    check_expansion(c);
    if (c.finite_differences) check_finite_differences(c);
}

void check_kernels(const OpCase& c) {
    check_lowered(c, {.traits = traits_under_test(shared_device())});
}

void check_kernels(const OpCase& c, const DeviceTraits& lowering) {
    check_lowered(c, {.traits = lowering});
}

DeviceTraits traits_of_gpu(const Device& device) {
    return as_gpu(traits(device));
}

DeviceTraits traits_with_matrices(const Device& device) {
    Graph inference;
    inference.activations = format_under_test() == Format::f16 ? Format::f16 : Format::bf16;
    return as_gpu(traits(device, inference));
}

namespace {

Arrays product_limits(const OpCase& c, double terms, const MixedRun& run) {
    const bool bf16 = run.element == MatrixElement::bf16;
    const double unit = std::ldexp(1.0, bf16 ? -8 : -11), smallest = std::ldexp(1.0, bf16 ? -126 : -14);
    // Everything a product adds up, with its sign taken away, is what its rounding errors are relative to. Below
    // the smallest normal number they are as large as there.
    CaseGraph made(c, differentiable(c));
    narrow(made.graph, format_under_test());
    Arrays magnitudes = made.leaves;
    for (auto& [name, array] : magnitudes)
        for (double& x : array.at) x = std::max(std::abs(x), smallest);
    Arrays sums = interpret(made.graph, magnitudes);
    for (auto& [name, array] : sums)
        for (double& x : array.at)
            x = x * (2 * unit + unit * unit + terms * std::ldexp(1.0, -24) + run.packed) + run.packed_least;
    return sums;
}

}  // namespace

void check_mixed_kernels(const OpCase& c, double terms) {
    check_mixed_kernels(c, [&](const MixedRun& run) { return product_limits(c, terms, run); });
}

void check_mixed_kernels(const OpCase& c, double terms, const DeviceTraits& lowering) {
    check_mixed_kernels(
        c, [&](const MixedRun& run) { return product_limits(c, terms, run); }, lowering);
}

DeviceTraits traits_with_group_matrices(const Device& device) {
    DeviceTraits made = traits_with_matrices(device);
    const bool fp16 = made.matrices && made.matrices->element == MatrixElement::fp16;
    if (made.workgroup_matrices == 0 && fp16 && device.info().flexible_matrices)
        made.workgroup_matrices = made.subgroup_size;
    return made;
}

void check_mixed_kernels(const OpCase& c, const std::function<Arrays(const MixedRun&)>& limits) {
    const Device& device = shared_device();
    const DeviceTraits lowering = traits_with_matrices(device);
    if (!lowering.matrices) GTEST_SKIP() << device.info().name << " has no cooperative matrices that kernels can use";
    check_mixed_kernels(c, limits, lowering);
}

void check_mixed_kernels(const OpCase& c, const std::function<Arrays(const MixedRun&)>& limits,
                         const DeviceTraits& lowering) {
    CaseGraph made(c, differentiable(c));
    fold_sums(made.graph);
    const Format format = format_under_test();
    narrow(made.graph, format);
    const Arrays wanted = interpret(made.graph, made.leaves);
    const Arrays limit =
        limits({as_kept(made), wanted, lowering.matrices->element, packed_units(format), packed_least(format)});
    const Bits found = run_checked(made, {.traits = lowering});
    for (const auto& [name, values] : found) {
        double worst = 0;
        std::size_t where = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double error = std::abs(static_cast<double>(values[i]) - wanted.at(name).at[i]);
            const double share = std::isnan(error) ? 1e30 : error == 0 ? 0 : error / limit.at(name).at[i];
            if (share > worst) worst = share, where = i;
        }
        EXPECT_LE(worst, 1.0) << name << ", element " << where << " of " << wanted.at(name).shape << ": "
                              << values[where] << ", wanted " << wanted.at(name).at[where];
    }
}

}  // namespace vkf::test
