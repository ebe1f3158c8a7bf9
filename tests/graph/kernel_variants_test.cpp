// The list of all kernels that may compute a graph.

#include "graph/kernel_variants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/autotuner.h"
#include "ops/attention/attention.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/gemm_config.h"
#include "ops/matmul/matmul.h"
#include "passes/run_passes.h"

namespace vkf {

namespace {

DeviceTraits gpu() {
    DeviceTraits made;
    made.cpu = false;
    made.subgroup_size = 32;
    made.shared_bytes = 49152;
    made.compute_units = 4;
    return made;
}

std::vector<std::string> implementations(const std::vector<KernelVariant>& list) {
    std::vector<std::string> made;
    for (const KernelVariant& variant : list) made.push_back(variant.implementation);
    return made;
}

TEST(HostKernelVariants, EveryTileOfAProduct) {
    for (const bool matrices : {false, true}) {
        Graph graph;
        const Tensor a = graph.input("a", {DType::f32, {256, 256}}), b = graph.input("b", {DType::f32, {256, 256}});
        graph.output("y", matmul(a, b));
        run_passes(graph);
        DeviceTraits device = gpu();
        if (matrices) device.matrices = MatrixShape{16, 16, 16, MatrixElement::fp16};
        const std::vector<KernelVariant> list = kernel_variants(graph, device);
        const std::vector<KernelConfig> configs = gemm_configs(
            device, {.batches = 1, .m = 256, .n = 256, .k = 256, .transpose_a = false, .transpose_b = false});
        ASSERT_GT(configs.size(), matrices ? 4u : 2u);
        for (const KernelConfig& config : configs) {
            const auto found = std::ranges::find(list, config.name, &KernelVariant::implementation);
            ASSERT_NE(found, list.end()) << config.name;
            EXPECT_EQ(found->kernel, config.kernel);
            for (const auto& constant : config.constants)
                EXPECT_NE(std::ranges::find(found->constants, constant), found->constants.end())
                    << config.name << ": " << constant.first;
        }
    }
}

/// A kernel with the same constants is listed once if several candidates launch it, and then belongs to none of them.
/// The kernel that adds the parts of a product is an example.
TEST(HostKernelVariants, EachOnce) {
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {64, 4096}}), b = graph.input("b", {DType::f32, {4096, 64}});
    graph.output("y", matmul(a, b));
    run_passes(graph);
    const std::vector<KernelVariant> list = kernel_variants(graph, gpu());
    EXPECT_EQ(std::ranges::count(list, "matmul_tile", &KernelVariant::kernel), 2);
    ASSERT_EQ(std::ranges::count(list, "matmul_sum", &KernelVariant::kernel), 1);
    EXPECT_EQ(std::ranges::find(list, "matmul_sum", &KernelVariant::kernel)->implementation, "");
}

TEST(HostKernelVariants, NoChoiceNoName) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4, 64}});
    graph.output("y", scale(x, 2.0f));
    run_passes(graph);
    EXPECT_EQ(implementations(kernel_variants(graph, gpu())), std::vector<std::string>{""});
}

/// The list does not depend on an autotuner, which would have to run the kernels.
TEST(HostKernelVariants, AsksNoAutotuner) {
    struct Offended : Autotuner {
        std::size_t choose(const DeviceTraits&, const TuningProblem&) override { throw std::logic_error("asked"); }
    } offended;
    Graph graph;
    const Tensor q = graph.input("q", {DType::f32, {1, 256, 64}});
    graph.output("y", attention(q, q, q, {.heads = 1}));
    run_passes(graph);
    DeviceTraits device = gpu();
    device.autotuner = &offended;
    const std::vector<std::string> names = implementations(kernel_variants(graph, device));
    EXPECT_EQ(std::set(names.begin(), names.end()), (std::set<std::string>{"subgroup", "tile"}));
}

}  // namespace

}  // namespace vkf
