// head_loss with the logits' gradient stored in 16 bits: by a device's cooperative matrices, and by fp32 kernels on
// devices with such matrices.

#include <algorithm>
#include <cmath>

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

struct MixedCase {
    OpCase op;
    double smoothing;
};

std::string mixed_name(const ::testing::TestParamInfo<MixedCase>& info) {
    return case_name({info.param.op, info.index});
}

MixedCase mixed_case(std::string name, std::int64_t rows, std::int64_t channels, std::int64_t width,
                     std::int64_t rows_at_a_time, float smoothing = 0) {
    return {.op = {.name = std::move(name),
                   .operands = {normal({rows, channels}),
                                normal({width, channels}, 1 / std::sqrt(static_cast<double>(channels))),
                                integers({rows}, -width / 4, width)},
                   .build =
                       [=](Inputs x) {
                           const std::int64_t pitch = (width + 63) / 64 * 64;
                           return std::vector{head_loss(
                               x[0], x[1], x[2],
                               {.logits_bytes = 4 * pitch * rows_at_a_time, .terms = {.label_smoothing = smoothing}})};
                       }},
            .smoothing = smoothing};
}

/// Error limits of outputs. Products round their factors by `unit` of themselves, and smaller factors like the smallest
/// normal number. A logit is then off by at most e of its row, the loss by 2 e, and a probability p, which is
/// exp(logit) over a sum of exponentials, by p (exp(2 e) − 1). The gradient of a logit, (p − its share of the target) /
/// count, has the same error and is rounded once more. Both are terms of sums in fp32.
Arrays limits(const MixedCase& c, const RoundedRun& run) {
    const bool bf16 = run.element == MatrixElement::bf16;
    const double unit = std::ldexp(1.0, bf16 ? -8 : -11), smallest = std::ldexp(1.0, bf16 ? -126 : -14);
    const double fp32 = std::ldexp(1.0, -24);
    const Array &x = run.leaves.at("x0"), &w = run.leaves.at("x1"), &targets = run.leaves.at("x2");
    const auto rows = static_cast<std::size_t>(c.op.operands[0].type.shape[0]);
    const auto channels = static_cast<std::size_t>(x.shape.width()), width = static_cast<std::size_t>(w.shape[0]);
    const double weight = std::abs(run.leaves.at("w0").at[0]);
    const auto size = [&](double value) { return std::max(std::abs(value), smallest); };
    const auto counted = static_cast<double>(std::ranges::count_if(targets.at, [](double t) { return t >= 0; }));

    Arrays made{{"y0", run.wanted.at("y0")}, {"d_x0", run.wanted.at("d_x0")}, {"d_x1", run.wanted.at("d_x1")}};
    for (auto& [name, array] : made)
        for (double& at : array.at) at = run.packed * std::abs(at) + run.packed_least;
    const double terms = static_cast<double>(std::max({channels, width, rows})) + 4;
    for (std::size_t r = 0; r < rows; ++r) {
        if (targets.at[r] < 0) continue;
        std::vector<double> logits(width);
        double off = 0, top = 0, largest = -1e30, sum = 0;
        for (std::size_t j = 0; j < width; ++j) {
            double magnitude = 0;
            for (std::size_t k = 0; k < channels; ++k) {
                const double a = x.at[r * channels + k], b = w.at[j * channels + k];
                logits[j] += a * b;
                magnitude += size(a) * size(b);
            }
            off = std::max(off, magnitude * (2 * unit + unit * unit + terms * fp32));
            top = std::max(top, std::abs(logits[j]));
            largest = std::max(largest, logits[j]);
        }
        for (const double logit : logits) sum += std::exp(logit - largest);
        made.at("y0").at[0] += (2 * off + 64 * fp32 * (1 + top)) / counted;
        for (std::size_t j = 0; j < width; ++j) {
            const double p = std::exp(logits[j] - largest) / sum;
            const double target = c.smoothing / static_cast<double>(width) +
                                  (static_cast<double>(j) == targets.at[r] ? 1 - c.smoothing : 0);
            const double d = std::abs(p - target) / counted;  // magnitude of the gradient
            const double exact = (p * std::expm1(2 * off) + 64 * fp32 * (p + target)) / counted;
            const double wrong = exact + unit * std::max(d + exact, smallest);
            const double in_sum = unit + terms * fp32;  // rounding of the other factor, and additions
            for (std::size_t k = 0; k < channels; ++k) {
                const double term = wrong * (1 + in_sum) + d * in_sum;
                made.at("d_x0").at[r * channels + k] += weight * term * size(w.at[j * channels + k]);
                made.at("d_x1").at[j * channels + k] += weight * term * size(x.at[r * channels + k]);
            }
        }
    }
    return made;
}

std::vector<MixedCase> mixed_cases(std::int64_t channels) {
    return {mixed_case("all rows", 21, channels, 48, 32),
            mixed_case("odd width", 21, channels, 49, 32),
            mixed_case("wider than a tile", 70, channels, 131, 80),
            mixed_case("chunks", 70, channels, 65, 24),
            mixed_case("one past a pitch", 33, channels, 129, 64),
            mixed_case("three rows left", 25, channels, 65, 22),
            mixed_case("smoothed", 21, channels, 48, 32, 0.25f),
            mixed_case("smoothed chunks", 70, channels, 65, 24, 0.875f)};
}

class DeviceCooperativeHeadLoss : public ::testing::TestWithParam<MixedCase> {};

TEST_P(DeviceCooperativeHeadLoss, Kernels) {
    check_mixed_kernels(GetParam().op, [](const RoundedRun& run) { return limits(GetParam(), run); });
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeHeadLoss, ::testing::ValuesIn(mixed_cases(40)), mixed_name);

/// Lowers as for a GPU whose matrices are too large for these products.
class DeviceHeadLossBesideMatrices : public ::testing::TestWithParam<MixedCase> {};

TEST_P(DeviceHeadLossBesideMatrices, Kernels) {
    for (const MatrixElement element : {MatrixElement::bf16, MatrixElement::fp16}) {
        DeviceTraits lowering = traits_of_gpu(shared_device());
        lowering.matrices = MatrixShape{.m = 16, .n = 16, .k = 16, .element = element};
        check_mixed_kernels(
            GetParam().op, [](const RoundedRun& run) { return limits(GetParam(), run); }, lowering);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceHeadLossBesideMatrices, ::testing::ValuesIn(mixed_cases(6)), mixed_name);

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
