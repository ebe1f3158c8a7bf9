#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "checks/matmul/products.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/chosen_implementation.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "program/program.h"

namespace vkf::test {
namespace {

using namespace products;

/// Lowers as for a CPU device that makes no vectors of loads (shaders/lib/uniform_loads.glsl).
TEST(DeviceDecodeMatmul, WithoutUniformLoads) {
    DeviceTraits lowering = traits(shared_device());
    lowering.uniform_loads = false;
    for (const Layout layout : {Layout::nn, Layout::nt})
        for (const OpCase& of : decode_cases(layout)) {
            SCOPED_TRACE(of.name);
            check_kernels(of, lowering);
        }
}

/// Tiles in shared memory, lowered as for a GPU. Rows end within a tile, and k within a slice.
class DeviceImplementationsMatmul : public ::testing::TestWithParam<const char*> {};

TEST_P(DeviceImplementationsMatmul, Kernels) {
    const std::string tile = GetParam();
    Always always(tile);
    DeviceTraits lowering = traits_of_gpu(shared_device());
    lowering.autotuner = &always;
    if (tile == "tile 128" && lowering.max_group < 256)
        GTEST_SKIP() << shared_device().info().name << " has no workgroups of 256 invocations";
    const auto check = [&](const OpCase& op_case) {
        SCOPED_TRACE(op_case.name);
        check_kernels(op_case, lowering);
    };
    const auto check_layout = [&](Layout layout) {
        check(plain(layout, 132, 140, 52, 4));  // words of four neighbours
        check(plain(layout, 132, 138, 50, 2));  // pairs
        check(plain(layout, 131, 129, 23, 1));  // neither
        check(plain(layout, 5, 6, 7));          // less than a slice
    };
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn}) check_layout(layout);
    check({"matrices that begin anywhere", {normal({3, 65, 6}), normal({3, 6, 67})}, product(Layout::nn)});
    for (const std::int64_t n : {136, 137}) {
        check(slope("", Layout::nn, fixed({131, 52}), fixed({52, n})));
        check(slope_with_everything("of tiles with everything", 70, n, 52));
    }
    check(scaled("TN in fours", normal({68, 72}), normal({68, 64}), fixed({68, 1}), options(Layout::tn)));
    if (tile == "tile 128") return;
    lowering.max_group = 128;  // several words of a slice per invocation
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn}) check_layout(layout);
}

INSTANTIATE_TEST_SUITE_P(Fp32, DeviceImplementationsMatmul, ::testing::Values("tile 64", "tile 128"));

TEST(HostMatmulShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const auto make = [&](const char* name, Shape shape) { return graph.input(name, {DType::f32, std::move(shape)}); };
    const Tensor a = make("a", {4, 5}), b = make("b", {6, 7}), batch = make("batch", {3, 5, 2});
    const Tensor wide = make("wide", {5, 7}), bias = make("bias", {6});
    EXPECT_THROW(matmul(a, b), InputError);
    EXPECT_THROW(matmul(bias, b), InputError);
    EXPECT_THROW(matmul(a, batch), InputError);
    EXPECT_THROW(matmul(a, b, {.transpose_a = true, .transpose_b = true}), InputError);
    EXPECT_THROW(matmul(a, wide, {.bias = bias}), InputError);
    EXPECT_THROW(matmul(a, wide, {.addend = wide}), InputError);
    EXPECT_THROW(matmul(a, wide, {.pre_activation = wide}), InputError);
    const Tensor y = make("y", {4, 7});
    EXPECT_THROW(matmul(a, wide, {.addend = y, .pre_activation = y}), InputError);
    EXPECT_THROW(matmul(a, wide, {.row_scale = make("columns", {1, 5})}), InputError);
    EXPECT_THROW(matmul(batch, make("square", {2, 2}), {.row_scale = make("positions", {1, 5, 1})}), InputError);
}

}  // namespace
}  // namespace vkf::test
