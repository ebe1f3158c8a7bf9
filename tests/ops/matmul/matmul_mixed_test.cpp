// Matrix products by cooperative matrices: the checks of matmul_test.cpp, with operands of 16 bits. Skipped if the
// device has no such matrices; tools/mesa26 runs these tests without a GPU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "checks/matmul/rounded_products.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/group_matrices.h"
#include "ops/matmul/matmul.h"
#include "program/program.h"

namespace vkf::test {
namespace {

using namespace rounded_products;

class DeviceCooperativeMatmul : public ::testing::TestWithParam<OpCase> {};

TEST_P(DeviceCooperativeMatmul, Kernels) {
    check_mixed_kernels(GetParam(), terms(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeMatmul, ::testing::ValuesIn(cases()), case_name);

/// Chooses one kernel wherever it is a candidate, and counts these choices.
class Wherever : public Autotuner {
public:
    explicit Wherever(std::string name) : name_(std::move(name)) {}
    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        const auto at = std::ranges::find(problem.candidates, name_);
        if (at == problem.candidates.end()) return 0;
        ++chosen;
        return static_cast<std::size_t>(at - problem.candidates.begin());
    }

    int chosen = 0;

private:
    std::string name_;
};

class DeviceCooperativeMatmulLayouts : public ::testing::TestWithParam<Layout> {};

/// With few registers, 256 invocations share a small tile, and each of them loads a part of a or of b per slice.
TEST_P(DeviceCooperativeMatmulLayouts, WithFewRegisters) {
    DeviceTraits lowering = traits_with_matrices(shared_device());
    if (!lowering.matrices || lowering.max_group < 256)
        GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices or too small workgroups";
    lowering.registers = 128;
    for (const OpCase& of : {rounded_product(GetParam(), 68, 76, 100, 4), rounded_product(GetParam(), 66, 62, 70, 2)})
        check_mixed_kernels(of, terms(of), lowering);
}

/// Slices of a large tile are short if longer ones do not fit.
TEST_P(DeviceCooperativeMatmulLayouts, WithLittleSharedMemory) {
    DeviceTraits lowering = traits_with_matrices(shared_device());
    if (!lowering.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    Wherever large("coopmat 128");
    lowering.autotuner = &large;
    lowering.shared_bytes = 16384;
    const OpCase of = rounded_product(GetParam(), 132, 140, 84, 4);
    check_mixed_kernels(of, terms(of), lowering);
    EXPECT_GT(large.chosen, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeMatmulLayouts, ::testing::Values(Layout::nn, Layout::nt, Layout::tn));

class DeviceCooperativeGroupMatmul : public ::testing::TestWithParam<OpCase> {};

TEST_P(DeviceCooperativeGroupMatmul, Kernels) {
    DeviceTraits lowering = traits_with_group_matrices(shared_device());
    if (lowering.workgroup_matrices == 0)
        GTEST_SKIP() << shared_device().info().name << " has no flexible matrices that kernels can use";
    GroupMatricesFirst autotuner;
    lowering.autotuner = &autotuner;
    check_mixed_kernels(GetParam(), terms(GetParam()), lowering);
    if (autotuner.chosen == 0 && lowering.workgroup_matrices > lowering.subgroup_size)
        GTEST_SKIP() << "the case is too small for a workgroup's matrices, of which a subgroup's have the same kernels";
    EXPECT_GT(autotuner.chosen, 0);
}

/// Fewer cases than cases(): Mesa's CPU device takes seconds to compile each set of constants.
std::vector<OpCase> group_cases() {
    std::vector<OpCase> list;
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn}) {
        list.push_back(rounded_product(layout, 75, 71, 31));
        list.push_back(rounded_product(layout, 32, 48, 80, 8));   // nothing is cut off: two slices at a time, then one
        list.push_back(rounded_product(layout, 66, 68, 770, 2));  // k split in chunks, the last one short
    }
    for (OpCase& c : cases())
        if (c.name == "batch of slices" || c.name == "alpha bias addend" || c.name == "addend in place" ||
            c.name == "row scale" || c.name == "slope" || c.name == "slope of odd rows" ||
            c.name == "slope of a split with everything")
            list.push_back(std::move(c));
    return list;
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeGroupMatmul, ::testing::ValuesIn(group_cases()), case_name);

/// Operands keep their order in shared memory, as on devices that transpose while they load.
class DeviceCooperativeMatmulInOrder : public ::testing::TestWithParam<OpCase> {};

TEST_P(DeviceCooperativeMatmulInOrder, Kernels) {
    DeviceTraits lowering = traits_with_matrices(shared_device());
    if (!lowering.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    lowering.transposing_loads = true;
    check_mixed_kernels(GetParam(), terms(GetParam()), lowering);
}

/// Slices by words of 16 bytes, by pairs and by single numbers, whole and cut off; batches; terms with factors.
std::vector<OpCase> in_order_cases() {
    std::vector<OpCase> list;
    for (const Layout layout : {Layout::nn, Layout::tn}) {
        list.push_back(rounded_product(layout, 64, 128, 96, 8));
        list.push_back(rounded_product(layout, 68, 76, 100, 4));
        list.push_back(rounded_product(layout, 66, 68, 770, 2));
        list.push_back(rounded_product(layout, 75, 71, 33));
    }
    for (OpCase& c : cases())
        if (c.name == "batch of slices" || c.name == "row scale TN" || c.name == "slope of a split with everything")
            list.push_back(std::move(c));
    return list;
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeMatmulInOrder, ::testing::ValuesIn(in_order_cases()), case_name);

/// y = act(a · b + bias) + addend for a graph of one product, lowered for a GPU in mixed precision.
std::vector<float> run_product(const std::vector<float>& a, const std::vector<float>& b, const Shape& a_shape,
                               const Shape& b_shape, const MatmulOptions& how) {
    Device& device = shared_device();
    const DeviceTraits lowering = traits_with_matrices(device);
    if (!lowering.matrices) return {};
    Graph graph;
    const Tensor left = graph.input("a", {DType::f32, a_shape}), right = graph.input("b", {DType::f32, b_shape});
    graph.output("y", matmul(left, right, how));
    State state(device);
    Program program(device, graph, state, {.traits = lowering});
    program.write("a", a);
    program.write("b", b);
    program.run();
    return program.read("y");
}

/// Multiplies a 32 · 32 matrix, whose diagonal begins with `x`, by the identity. A number that is not finite, times
/// zero, affects only its row.
std::vector<float> through_sixteen_bits(const std::vector<float>& x) {
    std::vector<float> a(32 * 32, 0.0f), b(32 * 32, 0.0f);
    for (std::size_t i = 0; i < 32; ++i) b[i * 33] = 1.0f;
    for (std::size_t i = 0; i < x.size(); ++i) a[i * 33] = x[i];
    const std::vector<float> y = run_product(a, b, {32, 32}, {32, 32}, {});
    std::vector<float> diagonal;
    for (std::size_t i = 0; i < x.size() && !y.empty(); ++i) diagonal.push_back(y[i * 33]);
    return diagonal;
}

TEST(DeviceCooperativeRounding, IsToNearestEvenAndToInfinity) {
    const DeviceTraits has = traits_with_matrices(shared_device());
    if (!has.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    const bool fp16 = has.matrices->element == MatrixElement::fp16;
    const float infinity = std::numeric_limits<float>::infinity();
    const float step = fp16 ? 0x1p-10f : 0x1p-7f;  // distance between neighbours above 1
    const std::vector<float> given{1 + step / 2,
                                   1 + 1.5f * step,
                                   1 + 0.51f * step,
                                   -1 - 0.49f * step,
                                   fp16 ? 65519.0f : 0x1.fep127f,
                                   fp16 ? 65520.0f : 0x1.ffp127f,
                                   -infinity};
    const std::vector<float> wanted{1, 1 + 2 * step, 1 + step, -1, fp16 ? 65504.0f : 0x1.fep127f, infinity, -infinity};
    EXPECT_EQ(through_sixteen_bits(given), wanted);
    EXPECT_TRUE(std::isnan(through_sixteen_bits({std::nanf("")})[0]));
}

TEST(DeviceCooperativeEpilogue, ActivationsFollowTheProduct) {
    const DeviceTraits has = traits_with_matrices(shared_device());
    if (!has.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    // Multiples of 1/2 are exact in 16 bits, and so are their products and sums in fp32: only the activation rounds.
    const Shape a{33, 40}, b{40, 35};
    std::vector<float> x(33 * 40), z(40 * 35);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5f * static_cast<float>(static_cast<int>(i * 7 % 5) - 2);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = 0.5f * static_cast<float>(static_cast<int>(i * 11 % 3) - 1);
    const std::vector<float> plain = run_product(x, z, a, b, {});
    const std::vector<float> relu = run_product(x, z, a, b, {.activation = Activation::relu});
    const std::vector<float> silu = run_product(x, z, a, b, {.activation = Activation::silu});
    for (std::size_t row = 0; row < 33; ++row)
        for (std::size_t column = 0; column < 35; ++column) {
            float sum = 0;
            for (std::size_t t = 0; t < 40; ++t) sum += x[row * 40 + t] * z[t * 35 + column];
            const std::size_t at = row * 35 + column;
            EXPECT_EQ(plain[at], sum);
            EXPECT_EQ(relu[at], std::max(sum, 0.0f));
            EXPECT_NEAR(silu[at], sum / (1 + std::exp(-sum)), 8 * 0x1p-24 * (1 + std::abs(sum)));
        }
}

TEST(DeviceCooperativeChoice, IsForNarrowGraphsOnly) {
    if (!traits_with_matrices(shared_device()).matrices)
        GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    const Graph whole;
    EXPECT_FALSE(traits(shared_device()).matrices.has_value());
    EXPECT_FALSE(traits(shared_device(), whole).matrices.has_value());
}

}  // namespace
}  // namespace vkf::test
