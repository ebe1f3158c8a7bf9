// Attention by cooperative matrices: the checks of attention_test.cpp, with operands of 16 bits. Skipped if the device
// has no such matrices; tools/mesa26 runs these tests without a GPU.
#include <cmath>

#include "checks/attention/rounded_attention.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/group_matrices.h"
#include "program/program.h"

namespace vkf::test {
namespace {

class DeviceCooperativeAttention : public ::testing::TestWithParam<RoundedAttention> {};

TEST_P(DeviceCooperativeAttention, Kernels) {
    DeviceTraits lowering = traits_with_matrices(shared_device());
    if (!lowering.matrices)
        GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices that kernels can use";
    lowering.compute_units = GetParam().compute_units;
    check_mixed_kernels(
        op_case(GetParam()), [](const BoundedRun& run) { return bounds_of(GetParam(), run); }, lowering);
}

std::string mixed_name(const ::testing::TestParamInfo<RoundedAttention>& info) {
    return case_name({op_case(info.param), info.index});
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeAttention, ::testing::ValuesIn(rounded_attention_list()), mixed_name);

class DeviceCooperativeGroupAttention : public ::testing::TestWithParam<RoundedAttention> {};

TEST_P(DeviceCooperativeGroupAttention, Kernels) {
    DeviceTraits lowering = traits_with_group_matrices(shared_device());
    if (lowering.workgroup_matrices == 0)
        GTEST_SKIP() << shared_device().info().name << " has no flexible matrices that kernels can use";
    GroupMatricesFirst autotuner;
    lowering.autotuner = &autotuner;
    check_mixed_kernels(
        op_case(GetParam()), [](const BoundedRun& run) { return bounds_of(GetParam(), run); }, lowering);
    if (autotuner.chosen == 0 && lowering.workgroup_matrices > lowering.subgroup_size)
        GTEST_SKIP() << "the case is too small for a workgroup's matrices, of which a subgroup's have the same kernels";
    EXPECT_GT(autotuner.chosen, 0);
}

/// Even fewer cases than rounded_attention_list(), for the same reason; heads are mostly as wide as one matrix.
std::vector<RoundedAttention> group_cases() {
    const AttentionOptions causal{.mask = {.causal = true}};
    const AttentionOptions dropped{.dropout = 0.3f, .salt = 9, .mask = {.causal = true}};
    const AttentionOptions windows{.mask = {.diagonal = true, .window_left = 9, .window_right = 4}};
    const AttentionOptions wide{.mask = {.diagonal = true, .window_left = 50, .window_right = 30}};
    return {
        {.name = "two workgroups", .queries = 129, .keys = 129, .width = 8, .options = causal},
        {.name = "two batches, more keys", .batch = 2, .queries = 70, .keys = 131, .width = 8, .options = causal},
        {.name = "fewer keys",
         .queries = 131,
         .keys = 70,
         .width = 8,
         .options = causal},  // the first queries see no key
        {.name = "steep", .width = 8, .options = causal, .spread = 30.0},
        {.name = "vanishing", .width = 8, .options = causal, .spread = 1e-6},
        {.name = "grouped, even slices off the diagonal",
         .batch = 2,
         .queries = 68,
         .keys = 70,
         .width = 8,
         .heads = 4,
         .padding = 6,
         .options = {.mask = {.causal = true, .diagonal = true}}},
        {.name = "width 7, odd slices", .batch = 2, .queries = 40, .keys = 33, .width = 7, .kv_heads = 1, .padding = 3},
        {.name = "window off the diagonal", .queries = 70, .keys = 70, .width = 8, .options = windows},
        {.name = "wide window off the diagonal", .queries = 70, .keys = 90, .width = 8, .options = wide},
        {.name = "window, fewer keys", .queries = 50, .keys = 30, .width = 8, .options = windows},
        {.name = "narrower values, used twice, dropout",
         .queries = 20,
         .keys = 35,
         .width = 20,
         .value_width = 6,
         .kv_heads = 1,
         .options = dropped,
         .values_twice = true},
        wide_values(),
    };
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeGroupAttention, ::testing::ValuesIn(group_cases()), mixed_name);

/// o for 65 queries, 70 keys and 2 heads of 16. Keys and values are whole tensors, or the first rows of a cache whose
/// rest is NaN.
std::vector<float> attend_to(const DeviceTraits& lowering, std::int64_t capacity, bool cache) {
    constexpr std::int64_t queries = 65, keys = 70, width = 32;
    Device& device = shared_device();
    Graph graph;
    const Tensor q = graph.input("q", {DType::f32, {1, queries, width}});
    const Tensor k = graph.input("k", {DType::f32, {1, capacity, width}});
    const Tensor length = graph.input("length", {DType::i32, {1}});
    AttentionOptions options{.heads = 2, .kv_heads = 2, .mask = {.causal = true}};
    if (cache) options.mask.key_lengths = length;
    graph.output("o", attention(q, k, k, options));
    State state(device);
    Program program(device, graph, state, {.traits = lowering});
    std::vector<float> x(static_cast<std::size_t>(capacity * width), std::nanf(""));
    for (std::size_t i = 0; i < keys * width; ++i) x[i] = std::sin(static_cast<float>(i));
    program.write("q", std::vector<float>(x.begin(), x.begin() + queries * width));
    program.write("k", x);
    if (cache) program.write("length", std::vector<std::int32_t>{keys});
    program.run();
    return program.read("o");
}

TEST(DeviceCooperativeAttentionCache, IsReadAsFarAsItIsFilled) {
    const DeviceTraits lowering = traits_with_matrices(shared_device());
    if (!lowering.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    EXPECT_EQ(attend_to(lowering, 90, true), attend_to(lowering, 70, false));
}

TEST(DeviceCooperativeGroupAttentionCache, IsReadAsFarAsItIsFilled) {
    DeviceTraits lowering = traits_with_group_matrices(shared_device());
    if (lowering.workgroup_matrices == 0) GTEST_SKIP() << shared_device().info().name << " has no flexible matrices";
    GroupMatricesFirst autotuner;
    lowering.autotuner = &autotuner;
    EXPECT_EQ(attend_to(lowering, 90, true), attend_to(lowering, 70, false));
    EXPECT_EQ(autotuner.chosen, 2);
}

}  // namespace
}  // namespace vkf::test
