// Trials of attention kernels, which a device must pass before they are used: right results pass, wrong ones fail.
#include "ops/attention/attention_tuning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "graph/reference.h"
#include "op_check.h"
#include "program/autotuner.h"
#include "program/program.h"
#include "tests/ops/gpu_traits.h"

namespace vkf::test {
namespace {

DeviceTraits with_small_trials(DeviceTraits device) {
    device.flops_per_second = 1e9;
    return device;
}

DeviceTraits with_matrices(MatrixElement element) {
    return with_small_trials(gpu(32, MatrixShape{16, 16, 16, element}));
}

AttentionProblem kind(bool backward, Format format, bool causal = true, bool mask_diagonal = false,
                      bool shared = false) {
    return {.size = {.batch_heads = 8, .q_len = 60, .kv_len = 60, .head_width = 16, .gqa_group = shared ? 2 : 1},
            .mask = {.causal = causal, .diagonal = mask_diagonal},
            .format = format,
            .backward = backward};
}

/// Result of a case in double.
std::vector<float> exact(const TuningCase& tuning_case) {
    const TuningOperands tried = tuning_case.operands();
    Arrays leaves;
    for (const Storage& storage : tuning_case.graph.storages()) {
        if (storage.role != Role::input) continue;
        const std::vector<float>& values = tried.inputs.at(storage.name);
        leaves[storage.name] = {storage.type.shape, {values.begin(), values.end()}};
    }
    const Arrays found = interpret(tuning_case.graph, leaves);
    return {found.at("y").at.begin(), found.at("y").at.end()};
}

/// GPUs without matrices, and with matrices of either element.
const std::vector<DeviceTraits> gpus{with_small_trials(gpu(32)), with_matrices(MatrixElement::fp16),
                                     with_matrices(MatrixElement::bf16)};

TEST(HostAttentionTuning, TheInterpretersResultsPass) {
    for (const DeviceTraits& device : gpus)
        for (const bool backward : {false, true})
            for (const bool causal : {false, true})
                for (const bool shared : {false, true}) {
                    const TuningProblem asked =
                        tuning_problem(device, kind(backward, Format::bf16, causal, causal, shared));
                    for (const auto& make : {asked.correctness_case, asked.timing_case}) {
                        const auto made = make();
                        EXPECT_EQ(mismatch(made->operands().expected, exact(*made)), "") << asked.kind;
                    }
                }
}

TEST(HostAttentionTuning, AsksOnlyForWhatTheDeviceHas) {
    const auto asked = [](const DeviceTraits& device, const AttentionProblem& kind) {
        return tuning_problem(device, kind);
    };
    const AttentionProblem usual = kind(false, Format::f32);
    AttentionProblem narrow = usual, decoding = usual;
    narrow.size.kv_len = 15;  // too few keys for matrices
    decoding.size.q_len = 4;
    using Names = std::vector<std::string>;
    EXPECT_EQ(asked(gpus[0], usual).candidates, (Names{"tile", "subgroup"}));
    EXPECT_TRUE(asked(gpus[0], usual).kind.ends_with(" f32 by fp32")) << asked(gpus[0], usual).kind;
    EXPECT_EQ(asked(gpus[1], usual).candidates, (Names{"coopmat", "tile", "subgroup"}));
    EXPECT_TRUE(asked(gpus[1], usual).kind.ends_with(" f32 by fp16")) << asked(gpus[1], usual).kind;
    EXPECT_EQ(asked(gpus[1], narrow).candidates, (Names{"tile", "subgroup"}));
    EXPECT_TRUE(asked(gpus[1], narrow).kind.ends_with(" f32 by fp32")) << asked(gpus[1], narrow).kind;
    EXPECT_EQ(asked(gpus[1], decoding).candidates, Names{"subgroup"});
}

TEST(HostAttentionTuning, OtherMasksDoNot) {
    for (const DeviceTraits& device : gpus)
        for (const bool backward : {false, true}) {
            const auto made = [&](bool causal, bool mask_diagonal) {
                return tuning_problem(device, kind(backward, Format::bf16, causal, mask_diagonal)).correctness_case();
            };
            EXPECT_NE(mismatch(made(true, false)->operands().expected, exact(*made(false, false))), "");
            EXPECT_NE(mismatch(made(false, false)->operands().expected, exact(*made(true, false))), "");
            EXPECT_NE(mismatch(made(true, false)->operands().expected, exact(*made(true, true))), "");
        }
}

/// A single wrong element fails: it is off by a few of the last stored bits, in fp32 by a thousandth.
TEST(HostAttentionTuning, NorDoesOneWrongElement) {
    for (const DeviceTraits& device : gpus)
        for (const bool backward : {false, true}) {
            const Format format = device.matrices ? Format::bf16 : Format::f32;
            const float more = device.matrices ? 1.25f : 1.001f;
            const auto made = tuning_problem(device, kind(backward, format)).correctness_case();
            std::vector<float> y = exact(*made);
            const Expected expected = made->operands().expected;
            for (std::size_t i = 0; i < y.size(); i += 97) {
                if (std::abs(y[i]) < 0.5f) continue;
                const float right = y[i];
                for (const float wrong : {right * more, -right, 0.0f, std::nanf("")}) {
                    y[i] = wrong;
                    EXPECT_NE(mismatch(expected, y), "") << "element " << i << ": " << wrong << " for " << right;
                }
                y[i] = right;
            }
            EXPECT_EQ(mismatch(expected, y), "");
        }
}

/// Messages of a tuner that chooses kernels for attention, forward and backward, lowered as for a GPU.
std::string told_of(const AutotunerOptions& options, DeviceTraits lowering, Format format) {
    Device& device = shared_device();
    std::string told;
    AutotunerOptions heard = options;
    heard.budget_s = heard.hopeless = 1e6;  // passes on slow machines and without a GPU
    heard.tell = [&](const std::string& line) { told += line + '\n'; };
    DeviceAutotuner tuner(device, heard);
    lowering.cpu = false;
    lowering.flops_per_second = 1e9;
    lowering.subgroup_size = device.info().subgroup_size;
    for (const bool backward : {false, true}) tuner.choose(lowering, tuning_problem(lowering, kind(backward, format)));
    return told;
}

TEST(DeviceImplementationsAttentionTuning, FindsSubgroupRight) {
    DeviceTraits lowering = traits(shared_device());
    if (lowering.subgroup_size < 8) GTEST_SKIP() << "too few lanes for matrices, so there is no choice";
    lowering.matrices = MatrixShape{16, 16, 16, MatrixElement::bf16};
    for (const Format format : {Format::f32, Format::bf16, Format::f16})
        EXPECT_EQ(told_of({.implementation = "subgroup"}, lowering, format),
                  "trying out kernels, once for this device\n");
}

TEST(DeviceImplementationsAttentionTuning, FindsAllOfFp32Right) {
    EXPECT_EQ(told_of({}, traits(shared_device()), Format::f32), "trying out kernels, once for this device\n");
}

TEST(DeviceCooperativeAttentionTuning, FindsMatricesRight) {
    const DeviceTraits has = traits_with_group_matrices(shared_device());
    if (!has.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    EXPECT_EQ(told_of({}, has, Format::f32), "trying out kernels, once for this device\n");
}

}  // namespace
}  // namespace vkf::test
