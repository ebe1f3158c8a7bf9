#include "vulkan/device/matrices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "vulkan/device/device.h"

namespace vkf::test {

namespace {

const MatrixAbilities EVERYTHING{.subgroup_size = 32, .most_invocations = 256};

ListedMatrix usual() {
    return {.m = 16, .n = 16, .k = 16, .a = "fp16", .b = "fp16", .c = "fp32", .result = "fp32", .scope = "subgroup"};
}

ListedMatrix flexible(std::string scope, std::uint32_t invocations, std::uint32_t multiple_of) {
    ListedMatrix made = usual();
    made.flexible = true;
    made.scope = std::move(scope);
    made.invocations = invocations;
    made.m = made.n = made.k = multiple_of;
    return made;
}

/// Reason for refusing a matrix that differs from the usual one.
std::string changed(auto change) {
    ListedMatrix at = usual();
    change(at);
    return refusal(at, EVERYTHING);
}

}  // namespace

TEST(HostMatrices, SaysWhyAShapeIsNotUsed) {
    EXPECT_EQ(refusal(usual(), EVERYTHING), "");
    EXPECT_EQ(changed([](auto& at) { at.a = at.b = "bf16"; }), "");
    EXPECT_EQ(changed([](auto& at) { at.m = 8; }), "");
    EXPECT_EQ(changed([](auto& at) { at.a = at.b = "sint8"; }), "factors are neither fp16 nor bf16");
    EXPECT_EQ(changed([](auto& at) { at.b = "bf16"; }), "factors are of two types");
    EXPECT_EQ(changed([](auto& at) { at.c = "fp16"; }), "sums are not fp32");
    EXPECT_EQ(changed([](auto& at) { at.result = "fp16"; }), "sums are not fp32");
    EXPECT_EQ(changed([](auto& at) { at.k = 32; }), "extents are not 8 or 16");
    EXPECT_EQ(changed([](auto& at) { at.scope = "workgroup"; }), "held by a workgroup");
    MatrixAbilities can = EVERYTHING;
    can.bf16 = "no bf16";
    EXPECT_EQ(refusal(usual(), can), "");
    can.fp16 = "no fp16";
    EXPECT_EQ(refusal(usual(), can), "no fp16");
    can.refusal = "none at all";
    EXPECT_EQ(refusal(usual(), can), "none at all");
}

TEST(HostMatrices, SaysWhyFlexibleExtentsAreNotUsed) {
    EXPECT_EQ(refusal(flexible("workgroup", 128, 32), EVERYTHING), "");
    EXPECT_EQ(refusal(flexible("workgroup", 128, 64), EVERYTHING), "extents of 32 are not among them");
    EXPECT_EQ(refusal(flexible("workgroup", 512, 16), EVERYTHING), "workgroups have at most 256");
    EXPECT_EQ(refusal(flexible("workgroup", 32, 16), EVERYTHING), "a workgroup of one subgroup");
    EXPECT_EQ(refusal(flexible("subgroup", 0, 8), EVERYTHING), "");
    EXPECT_EQ(refusal(flexible("subgroup", 0, 16), EVERYTHING), "extents of 8 are not among them");
    ListedMatrix of_bf16 = flexible("subgroup", 0, 8);
    of_bf16.a = of_bf16.b = "bf16";
    EXPECT_EQ(refusal(of_bf16, EVERYTHING), "flexible ones of a subgroup are used with fp16");
    MatrixAbilities can = EVERYTHING;
    can.workgroups = "no block loads";
    EXPECT_EQ(refusal(flexible("workgroup", 128, 32), can), "no block loads");
    EXPECT_EQ(refusal(flexible("subgroup", 0, 8), can), "");
}

TEST(HostMatrices, UsesWhatIsNotRefused) {
    ListedMatrix refused = usual(), of_bf16 = usual();
    refused.m = 8;
    refused.refusal = "somehow";
    of_bf16.a = "bf16";
    const std::vector<ListedMatrix> listed{refused,
                                           usual(),
                                           of_bf16,
                                           usual(),
                                           flexible("workgroup", 256, 16),
                                           flexible("workgroup", 128, 16),
                                           flexible("workgroup", 256, 32)};
    const std::vector<MatrixShape> shapes{{16, 16, 16, MatrixElement::fp16}, {16, 16, 16, MatrixElement::bf16}};
    EXPECT_EQ(matrix_shapes(listed), shapes);
    const std::vector<GroupMatrices> groups{{128, MatrixElement::fp16}, {256, MatrixElement::fp16}};
    EXPECT_EQ(workgroup_matrices(listed), groups);
    EXPECT_FALSE(flexible_matrices(listed));
    EXPECT_TRUE(flexible_matrices({flexible("subgroup", 0, 8)}));
}

TEST(DeviceFacts, AgreeWithWhatIsUsed) {
    const std::vector<DeviceInfo> devices = list_devices();
    const std::vector<DeviceFacts> facts = list_device_facts();
    ASSERT_EQ(facts.size(), devices.size());
    for (std::size_t i = 0; i < facts.size(); ++i) {
        EXPECT_EQ(matrix_shapes(facts[i].matrices), devices[i].matrices);
        EXPECT_EQ(workgroup_matrices(facts[i].matrices), devices[i].workgroup_matrices);
        ASSERT_LT(facts[i].queue_family, facts[i].queue_families.size());
        const auto& flags = facts[i].queue_families[facts[i].queue_family].flags;
        EXPECT_TRUE(std::ranges::find(flags, "compute") != flags.end());
        std::uint64_t largest = 0;
        for (const MemoryHeap& heap : facts[i].heaps)
            if (std::ranges::find(heap.flags, "device local") != heap.flags.end())
                largest = std::max(largest, heap.bytes);
        EXPECT_EQ(largest, devices[i].memory_bytes);
        for (const MemoryType& type : facts[i].memory_types) EXPECT_LT(type.heap, facts[i].heaps.size());
    }
}

}  // namespace vkf::test
