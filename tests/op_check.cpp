#include "op_check.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/os/os.h"
#include "device_fixture.h"
#include "ops/movement/view.h"

namespace vkf::test {

namespace {

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

/// Compares gradients with central differences: for every element of small operands, for 64 spread elements of large
/// ones.
void check_finite_differences(const OpCase& c) {
    CaseGraph made(c, true, format_under_test());
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
            // Truncation is O(h²) and rounding O(1e-16 · objective / h), both well below the limit.
            EXPECT_NEAR(gradient.at[i], (up - down) / (2 * h), 2e-6 * scale)
                << "operand " << index << ", element " << i << " of " << gradient.shape;
        }
    }
}

void check_expansion(const OpCase& c) {
    const CaseGraph made(c, false, format_under_test());
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

/// Traits of a GPU if VKFORMER_TEST_AS_GPU is set, else none.
std::optional<DeviceTraits> traits_under_test(const Device& device) {
    if (!std::getenv("VKFORMER_TEST_AS_GPU")) return std::nullopt;
    return traits_of_gpu(device);
}

void expect_right(const KernelCheck& check) {
    for (const std::string& failure : check.failures()) ADD_FAILURE() << failure;
}

}  // namespace

std::string case_name(const ::testing::TestParamInfo<OpCase>& info) {
    std::string name;
    for (const char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
}

void check_mathematics(const OpCase& c) {
    check_expansion(c);
    if (c.finite_differences) check_finite_differences(c);
}

DeviceTraits traits_of_gpu(const Device& device) {
    DeviceTraits made = traits(device);
    made.cpu = false;
    return made;
}

void check_kernels(const OpCase& c) {
    expect_right(
        check_kernels(shared_device(), c, format_under_test(), {.traits = traits_under_test(shared_device())}));
}

void check_kernels(const OpCase& c, const DeviceTraits& lowering) {
    expect_right(check_kernels(shared_device(), c, format_under_test(), {.traits = lowering}));
}

Bits run_checked(CaseGraph& graph, const ProgramOptions& lowering) {
    CaseRun run = run_case(shared_device(), graph, lowering);
    for (const std::string& fault : run.faults) ADD_FAILURE() << fault;
    return std::move(run.outputs);
}

Format format_under_test() {
    const std::optional<std::string> word = os::environment("VKFORMER_TEST_FORMAT");
    if (!word) return Format::f32;
    return *word == "f16" ? Format::f16 : Format::bf16;
}

DeviceTraits traits_with_matrices(const Device& device) {
    Graph inference;
    inference.activations = format_under_test() == Format::f16 ? Format::f16 : Format::bf16;
    DeviceTraits made = traits(device, inference);
    made.cpu = false;
    return made;
}

DeviceTraits traits_with_group_matrices(const Device& device) {
    DeviceTraits made = traits_with_matrices(device);
    const bool fp16 = made.matrices && made.matrices->element == MatrixElement::fp16;
    if (made.workgroup_matrices == 0 && fp16 && device.info().flexible_matrices)
        made.workgroup_matrices = made.subgroup_size;
    return made;
}

void check_mixed_kernels(const OpCase& c, double terms) {
    check_mixed_kernels(c, product_bounds(c, terms));
}

void check_mixed_kernels(const OpCase& c, double terms, const DeviceTraits& lowering) {
    check_mixed_kernels(c, product_bounds(c, terms), lowering);
}

void check_mixed_kernels(const OpCase& c, const Bounds& bounds) {
    const Device& device = shared_device();
    const DeviceTraits lowering = traits_with_matrices(device);
    if (!lowering.matrices) GTEST_SKIP() << device.info().name << " has no cooperative matrices that kernels can use";
    check_mixed_kernels(c, bounds, lowering);
}

void check_mixed_kernels(const OpCase& c, const Bounds& bounds, const DeviceTraits& lowering) {
    expect_right(check_bounded_kernels(shared_device(), c, format_under_test(), bounds, {.traits = lowering}));
}

}  // namespace vkf::test
