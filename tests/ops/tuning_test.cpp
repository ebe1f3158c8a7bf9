// Common parts of all tuning problems: the tuned kernels, and the judgement of results.
#include "ops/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "ops/attention/attention_tuning.h"
#include "ops/matmul/matmul_tuning.h"
#include "ops/vector_layout.h"

namespace vkf::test {
namespace {

/// GPUs without cooperative matrices, with matrices of either element, and with matrices of workgroups or, as in tests,
/// of subgroups.
std::vector<DeviceTraits> devices() {
    std::vector<DeviceTraits> list(5);
    for (std::size_t i = 0; i < list.size(); ++i) {
        list[i].cpu = false;
        list[i].subgroup_size = 32;
        list[i].shared_bytes = 65536;
        if (i == 0) continue;
        const bool bf16 = i == 2 || i == 4;
        list[i].matrices = MatrixShape{16, 16, 16, bf16 ? MatrixElement::bf16 : MatrixElement::fp16};
        if (i > 2) list[i].workgroup_matrices = 128;
    }
    list.push_back(list[3]);
    list.back().workgroup_matrices = list.back().subgroup_size;
    return list;
}

const AttentionProblem usual{.size = {.batch_heads = 8, .q_len = 256, .kv_len = 256, .head_width = 64},
                          .mask = {.causal = true},
                          .format = Format::f32,
                          .backward = false};

GemmShape gemm(std::int64_t m, bool transpose_a = false) {
    return {.batches = 1, .m = m, .n = 512, .k = 512, .transpose_a = transpose_a, .transpose_b = false};
}

TuningProblem product(const DeviceTraits& device, bool transpose_a = false, std::int64_t m = 512) {
    GemmCall call{.shape = gemm(m, transpose_a),
                  .layout_a = vector_layout(true),
                  .layout_b = vector_layout(true),
                  .layout_y = vector_layout(true)};
    return tuning_problem(device, call, gemm_configs(device, call.shape));
}

TEST(HostTuning, TunedKernelsAreThoseThatCandidatesRun) {
    std::set<std::string> run{"matmul_sum"};  // for products whose k is cut, with any kernel
    for (const DeviceTraits& device : devices()) {
        for (const KernelConfig& made : gemm_configs(device, gemm(512))) run.insert(made.kernel);
        for (const std::string& name : attention_implementations(device, usual.size))
            for (const AttentionPass pass :
                 {AttentionPass::forward, AttentionPass::query_gradient, AttentionPass::key_gradient})
                run.insert(attention_tile(device, name, pass, usual.size).kernel);
    }
    const std::vector<std::string> listed = tuned_kernels();
    EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), run);
    EXPECT_EQ(listed.size(), run.size()) << "none twice";
}

/// Products and attention have the same four implementations, so that both have every name of --kernels.
TEST(HostTuning, ProductsAndAttentionHaveTheSameImplementations) {
    const auto implementations = [](const TuningProblem& problem) {
        std::set<std::string> names;
        for (const std::string& at : problem.candidates) names.insert(at.substr(0, at.find(' ')));
        return names;
    };
    for (const DeviceTraits& device : devices())
        EXPECT_EQ(implementations(product(device)), implementations(tuning_problem(device, usual)));
    EXPECT_EQ(implementations(product(devices()[3])).size(), 4u);
}

TEST(HostTuning, WidthsOfModelsAreTheirOwnSizes) {
    for (const std::int64_t width : {16, 18, 64, 384, 768, 1024, 1536, 2304, 3072, 5632})
        EXPECT_EQ(nearly(width), width);
    EXPECT_EQ(nearly(50257), 53248);
    EXPECT_EQ(nearly(1600), 1664);
    EXPECT_EQ(nearly(3), 16);
    DeviceTraits device = devices()[0];
    device.flops_per_second = 5e12;
    GemmCall call{.shape = {.batches = 1, .m = 3000, .n = 2304, .k = 768, .transpose_a = false, .transpose_b = false},
                  .layout_a = vector_layout(true),
                  .layout_b = vector_layout(true),
                  .layout_y = vector_layout(true)};
    const auto asked = [&] { return tuning_problem(device, call, gemm_configs(device, call.shape)); };
    EXPECT_NE(asked().kind.find("4096x2304x768"), std::string::npos) << asked().kind;
    EXPECT_EQ(asked().timing_case()->graph.outputs()[0].tensor.shape().width(), 2304);
    call.shape = {.batches = 1, .m = 768, .n = 2304, .k = 3000, .transpose_a = true, .transpose_b = false};
    EXPECT_NE(asked().kind.find("768x2304x4096"), std::string::npos) << asked().kind;
}

TEST(HostTuning, FamiliesTellOpsDirectionsAndElementsApartAndNotSizes) {
    const std::vector<DeviceTraits> all = devices();
    AttentionProblem backward = usual, packed = usual, longer = usual;
    backward.backward = true;
    packed.format = Format::f16;
    longer.size.q_len = longer.size.kv_len = 1024;
    const std::set<std::string> families{tuning_problem(all[3], usual).family,
                                         tuning_problem(all[3], backward).family,
                                         tuning_problem(all[3], packed).family,
                                         tuning_problem(all[4], usual).family,
                                         product(all[3]).family,
                                         product(all[3], true).family,
                                         product(all[4]).family};
    EXPECT_EQ(families.size(), 7u);
    EXPECT_EQ(tuning_problem(all[3], longer).family, tuning_problem(all[3], usual).family);
    EXPECT_NE(tuning_problem(all[3], longer).kind, tuning_problem(all[3], usual).kind);
    EXPECT_EQ(product(all[3], false, 4096).family, product(all[3]).family);
    EXPECT_NE(product(all[3], false, 4096).kind, product(all[3]).kind);
}

/// The interpreter's results pass; they fail if one of the checked elements is off by a thousandth.
TEST(HostTuning, ProductsAreJudgedSharply) {
    DeviceTraits device = devices()[0];
    device.flops_per_second = 1e9;
    for (const bool transpose_a : {false, true}) {
        const TuningProblem problem = product(device, transpose_a);
        for (const auto& make : {problem.correctness_case, problem.timing_case}) {
            const auto of = make();
            const TuningOperands tried = of->operands();
            Arrays given;
            for (const Storage& storage : of->graph.storages())
                if (storage.role == Role::input) {
                    const std::vector<float>& x = tried.inputs.at(storage.name);
                    given[storage.name] = {storage.type.shape, {x.begin(), x.end()}};
                }
            std::vector<float> y = floats(interpret(of->graph, given).at("y"));
            EXPECT_EQ(mismatch(tried.expected, y), "");
            for (std::size_t i = 0; i < tried.expected.at.size(); i += 97) {
                const float right = y[tried.expected.at[i]];
                for (const float wrong : {right * 1.001f + std::copysign(1e-3f, right), right + 1.0f, std::nanf("")}) {
                    y[tried.expected.at[i]] = wrong;
                    EXPECT_NE(mismatch(tried.expected, y), "") << wrong << " for " << right;
                }
                y[tried.expected.at[i]] = right;
            }
            y.resize(y.size() / 2);
            EXPECT_NE(mismatch(tried.expected, y), "");
        }
    }
}

TEST(HostTuning, OfLargeProductsEachTileIsLookedAt) {
    DeviceTraits device = devices()[0];
    device.flops_per_second = 1e9;
    const auto of = product(device).timing_case();
    const TuningOperands tried = of->operands();
    const Shape shape = of->graph.outputs()[0].tensor.shape();
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (const std::size_t at : tried.expected.at)
        seen.insert({static_cast<std::int64_t>(at) / shape[1] / 16, static_cast<std::int64_t>(at) % shape[1] / 16});
    EXPECT_EQ(std::ssize(seen), (shape[0] + 15) / 16 * ((shape[1] + 15) / 16));
    EXPECT_EQ(tried.expected.at.size(), seen.size());
}

}  // namespace
}  // namespace vkf::test
