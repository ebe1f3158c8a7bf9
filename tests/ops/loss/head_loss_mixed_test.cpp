// head_loss with the logits' gradient stored in 16 bits: by a device's cooperative matrices, and by fp32 kernels on
// devices with such matrices.

#include <algorithm>
#include <cmath>

#include "checks/loss/rounded_head_loss.h"
#include "device_fixture.h"
#include "graph/lower.h"
#include "op_check.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/cast.h"
#include "ops/loss/head_loss.h"
#include "passes/run_passes.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

std::string mixed_name(const ::testing::TestParamInfo<RoundedHeadLoss>& info) {
    return case_name({info.param.op, info.index});
}

class DeviceCooperativeHeadLoss : public ::testing::TestWithParam<RoundedHeadLoss> {};

TEST_P(DeviceCooperativeHeadLoss, Kernels) {
    check_mixed_kernels(GetParam().op, [](const BoundedRun& run) { return bounds_of(GetParam(), run); });
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeHeadLoss, ::testing::ValuesIn(rounded_head_losses(40)), mixed_name);

/// Lowers as for a GPU whose matrices are too large for these products.
class DeviceHeadLossBesideMatrices : public ::testing::TestWithParam<RoundedHeadLoss> {};

TEST_P(DeviceHeadLossBesideMatrices, Kernels) {
    for (const MatrixElement element : {MatrixElement::bf16, MatrixElement::fp16}) {
        DeviceTraits lowering = traits_of_gpu(shared_device());
        lowering.matrices = MatrixShape{.m = 16, .n = 16, .k = 16, .element = element};
        check_mixed_kernels(
            GetParam().op, [](const BoundedRun& run) { return bounds_of(GetParam(), run); }, lowering);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceHeadLossBesideMatrices, ::testing::ValuesIn(rounded_head_losses(6)), mixed_name);

// ------------------------------------------------------------------------------------ dispatches

DeviceTraits large_gpu() {
    return {.cpu = false,
            .subgroup_size = 32,
            .compute_units = 132,
            .shared_bytes = 48 << 10,
            .memory_bytes = std::int64_t{80} << 30,
            .buffer_bytes = std::int64_t{4} << 30,
            .matrices = MatrixShape{.m = 16, .n = 16, .k = 16, .element = MatrixElement::bf16},
            .workgroup_matrices = 256};
}

/// Dispatches of GPT-2's head for 64 sequences of 1024 tokens.
std::vector<Dispatch> dispatches_of_gpt2(const DeviceTraits& device, Format activations) {
    Graph graph;
    graph.activations = activations;
    const Tensor features = scale(graph.input("x", {DType::f32, {64, 1024, 768}}), 2.0f);
    const Tensor table = graph.state("table", {DType::f32, {50257, 768}});
    const Tensor loss = head_loss(features, table, graph.input("targets", {DType::i32, {64, 1024}}));
    graph.output("loss", loss);
    const std::vector d = gradients(loss, std::array{features, table});
    if (activations != Format::f32) cast_weights(graph);
    graph.output("d_features", scale(d[0], 2.0f));
    graph.output("d_table", scale(d[1], 2.0f));
    run_passes(graph, only_storage_types);
    const auto head = std::ranges::find_if(graph.nodes(), [](const Node& at) { return at.op->name() == "head_loss"; });
    return lower(graph, live_nodes(graph), *head, device).dispatches;
}

/// Constant of this name; empty if the dispatch does not set it.
std::optional<ConstantValue> constant(const Dispatch& dispatch, std::string_view name) {
    for (const auto& [key, value] : dispatch.constants)
        if (key == name) return value;
    return std::nullopt;
}

TEST(HostHeadLoss, AGpuHasFewChunks) {
    const std::size_t cpu = dispatches_of_gpt2(DeviceTraits{}, Format::bf16).size();
    EXPECT_GE(cpu, 2000U);
    DeviceTraits small = large_gpu();
    small.memory_bytes = std::int64_t{6} << 30;
    for (const DeviceTraits& device : {large_gpu(), small})
        for (const Format activations : {Format::f32, Format::bf16})
            EXPECT_LE(dispatches_of_gpt2(device, activations).size(), cpu / 10);
}

TEST(HostHeadLoss, ItsLogitsTakeASmallPartOfAGpu) {
    DeviceTraits device = large_gpu();
    for (const std::int64_t gibibytes : {1, 8, 80}) {
        device.memory_bytes = gibibytes << 30;
        for (const Dispatch& dispatch : dispatches_of_gpt2(device, Format::bf16)) {
            if (dispatch.kernel != "head_loss") continue;
            const auto rows = std::ranges::find(dispatch.args, "rows", &Args::value_type::first);
            EXPECT_LE(4 * 50304 * std::int64_t{std::get<std::uint32_t>(rows->second)}, device.memory_bytes / 16);
        }
    }
}

/// Each operand stored in 16 bits begins every line at a multiple of 16 bytes, independently of the other operands.
TEST(HostHeadLoss, AllOperandsOfItsProductsAreAlignedOnAGpu) {
    int products = 0;
    for (const Dispatch& dispatch : dispatches_of_gpt2(large_gpu(), Format::bf16)) {
        if (!dispatch.kernel.starts_with("matmul")) continue;
        ++products;
        for (const char* operand : {"a_pitch", "b_pitch", "y_pitch"}) {
            const auto pitch = std::ranges::find(dispatch.args, operand, &Args::value_type::first);
            EXPECT_EQ(std::get<std::uint32_t>(pitch->second) % 8, 0U) << dispatch.kernel << ' ' << operand;
        }
        for (const char* name : {"LAYOUT_A", "LAYOUT_B"})
            EXPECT_EQ(std::get<std::uint32_t>(constant(dispatch, name).value()), 2U) << dispatch.kernel << ' ' << name;
        if (!dispatch.kernel.starts_with("matmul_coopmat2")) continue;
        for (const char* name : {"ALIGNED_A", "ALIGNED_B", "ALIGNED_Y"})
            EXPECT_TRUE(std::get<bool>(constant(dispatch, name).value())) << name;
    }
    EXPECT_EQ(products % 3, 0);
    EXPECT_GT(products, 0);
}

}  // namespace
}  // namespace vkf::test
