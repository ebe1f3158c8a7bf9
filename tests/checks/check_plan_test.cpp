// The plan of `vkformer check`: every table early, each name once, and its order.
#include "checks/check_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "ops/gpu_traits.h"

namespace vkf::test {
namespace {

using checks::check_plan;
using checks::CheckItem;
using checks::name_of;
using checks::op_tables;

std::vector<std::string> names_of(const std::vector<CheckItem>& plan) {
    std::vector<std::string> names;
    for (const CheckItem& item : plan) names.push_back(name_of(item));
    return names;
}

TEST(HostCheckPlan, BeginsWithACaseOfEachTable) {
    const std::vector<CheckItem> plan = check_plan({.plain = gpu(32)}, 1);
    std::set<std::string> first;
    for (std::size_t i = 0; i < op_tables().size(); ++i) {
        first.insert(plan.at(i).table);
        EXPECT_EQ(plan[i].format, Format::f32);
        EXPECT_EQ(plan[i].choice, 0u);
    }
    EXPECT_EQ(first.size(), op_tables().size());
}

TEST(HostCheckPlan, HasEveryCaseInEachFormatOnce) {
    const std::vector<CheckItem> plan = check_plan({.plain = gpu(32)}, 1, {"norm", "matmul"});
    const std::vector<std::string> names = names_of(plan);
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size()) << "a name stands for two checks";
    const auto count = [&](const std::string& table, Format format) {
        return std::ranges::count_if(plan, [&](const CheckItem& item) {
            return item.table == table && item.format == format && item.choice == 0;
        });
    };
    for (const Format format : {Format::f32, Format::bf16, Format::f16}) {
        EXPECT_EQ(count("norm", format), std::ssize(checks::norm_cases()));
        EXPECT_EQ(count("matmul", format), std::ssize(checks::matmul_cases()));
    }
    EXPECT_TRUE(std::ranges::any_of(plan, [](const CheckItem& item) { return item.choice > 0; }))
        << "other kernels of products are not checked";
    EXPECT_TRUE(std::ranges::none_of(plan, [](const CheckItem& item) {
        return item.choice > 0 && std::string(item.table) == "norm";
    })) << "norm has no other kernels";
}

TEST(HostCheckPlan, HasRoundedProductsWhereADeviceHasMatrices) {
    const MatrixShape matrix{.m = 16, .n = 16, .k = 16, .element = MatrixElement::bf16};
    const std::vector<std::string> only{"rounded_matmul", "rounded_attention", "rounded_head_loss"};
    EXPECT_TRUE(check_plan({.plain = gpu(32)}, 1, only).empty());
    const checks::CheckTraits device{.plain = gpu(32), .bf16 = gpu(32, matrix)};
    const std::vector<CheckItem> plan = check_plan(device, 1, only);
    EXPECT_GE(std::ssize(plan), std::ssize(checks::rounded_matmul_cases()) +
                                    std::ssize(checks::rounded_attention_cases()) +
                                    std::ssize(checks::rounded_head_loss_cases()));
    for (const CheckItem& item : plan) {
        EXPECT_EQ(item.format, Format::bf16) << "the device has no matrices of fp16";
        EXPECT_TRUE(item.bounds);
        EXPECT_TRUE(device.of(item).matrices);
    }
    const std::vector<std::string> names = names_of(plan);
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
}

TEST(HostCheckPlan, DependsOnTheSeedAlone) {
    const auto plan = [](std::uint64_t seed) {
        return names_of(check_plan({.plain = gpu(32)}, seed, {"softmax", "rope"}));
    };
    EXPECT_EQ(plan(3), plan(3));
    EXPECT_NE(plan(3), plan(4));
    EXPECT_TRUE(std::ranges::is_permutation(plan(3), plan(4)));
}

TEST(HostCheckPlan, RefusesAnUnknownTable) {
    EXPECT_THROW(check_plan({.plain = gpu(32)}, 1, {"norms"}), InputError);
}

}  // namespace
}  // namespace vkf::test
