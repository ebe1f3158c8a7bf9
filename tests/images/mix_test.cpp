#include "models/images/augmentation/mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/images/chance.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using Kind = MixPlan::Kind;
using test::complaint;
using test::expect_even;
using test::expect_holds;
using test::expect_mean;
using test::expect_share;

constexpr int width = 32, height = 24;

/// Number of pixels in the box for λ around (x, y), written as in the recipe's source.
int box_pixels(double lambda, int x, int y) {
    const auto clip = [](int v, int side) { return std::clamp(v, 0, side); };
    const int w = static_cast<int>(width * std::sqrt(1 - lambda)), h = static_cast<int>(height * std::sqrt(1 - lambda));
    return (clip(x + w / 2, width) - clip(x - w / 2, width)) * (clip(y + h / 2, height) - clip(y - h / 2, height));
}

TEST(HostMix, KindsAndLambdasHaveTheRecipesDistribution) {
    constexpr int n = 100'000;
    int cutmix = 0, mixup = 0;
    double uniform = 0, squares = 0, share = 0;
    for (std::uint64_t batch = 0; batch < n; ++batch) {
        const MixPlan plan = plan_mix(1, 2, batch, 4, width, height);
        std::vector<std::size_t> sorted = plan.partner;
        std::ranges::sort(sorted);
        ASSERT_EQ(sorted, (std::vector<std::size_t>{0, 1, 2, 3}));
        ASSERT_TRUE(plan.lambda >= 0 && plan.lambda <= 1);
        if (plan.kind == Kind::none) {
            ASSERT_EQ(plan.lambda, 1);
            ASSERT_EQ(plan.partner, sorted);
        } else if (plan.kind == Kind::cutmix) {
            ++cutmix;
            const auto [left, top, box_width, box_height] = plan.box;
            ASSERT_TRUE(left >= 0 && top >= 0 && box_width >= 0 && box_height >= 0);
            ASSERT_TRUE(left + box_width <= width && top + box_height <= height);
            ASSERT_DOUBLE_EQ(plan.lambda, 1 - box_width * box_height / double(width * height));
            share += 1 - plan.lambda;
        } else {
            ++mixup;
            uniform += plan.lambda;
            squares += plan.lambda * plan.lambda;
        }
    }
    expect_share(cutmix, n, 0.25, "cutmix");
    expect_share(mixup, n, 0.25, "mixup");
    expect_mean(uniform, mixup, 1 / 2.0, 1 / 12.0, "λ");
    expect_mean(squares, mixup, 1 / 3.0, 1 / 5.0 - 1 / 9.0, "λ²");

    constexpr int grid = 2000;
    double sum = 0, sum_squares = 0;
    for (int i = 0; i < grid; ++i) {
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                const double of_image = box_pixels((i + 0.5) / grid, x, y) / double(width * height);
                sum += of_image;
                sum_squares += of_image * of_image;
            }
        }
    }
    const double cases = double(grid) * width * height, mean = sum / cases;
    expect_mean(share, cutmix, mean, sum_squares / cases - mean * mean, "share of the box");
}

/// timm's Mixup at mixup 0.8 and cutmix 1: λ of Beta(α, α) has variance 1/(4(2α + 1)) and kurtosis 3 - 6/(2α + 3).
TEST(HostMix, MixupsLambdaIsBetaAndPartnersTheReversedBatch) {
    constexpr int n = 100'000;
    for (const double alpha : {0.2, 0.8, 2.0}) {
        SCOPED_TRACE(alpha);
        int mixup = 0, cutmix = 0;
        double sum = 0, squares = 0;
        for (std::uint64_t batch = 0; batch < n; ++batch) {
            const Mixing mixing{.probability = 1, .mixup_alpha = alpha, .reversed = true};
            const MixPlan plan = plan_mix(1, 2, batch, 4, width, height, mixing);
            ASSERT_EQ(plan.partner, (std::vector<std::size_t>{3, 2, 1, 0}));
            ++(plan.kind == Kind::mixup ? mixup : cutmix);
            if (plan.kind == Kind::cutmix) continue;
            ASSERT_TRUE(plan.lambda >= 0 && plan.lambda <= 1);
            sum += plan.lambda;
            squares += (plan.lambda - 0.5) * (plan.lambda - 0.5);
        }
        const double variance = 1 / (4 * (2 * alpha + 1)), kurtosis = 3 - 6 / (2 * alpha + 3);
        expect_share(mixup, n, 0.5, "mixup");
        EXPECT_EQ(mixup + cutmix, n);
        expect_mean(sum, mixup, 0.5, variance, "λ");
        expect_mean(squares, mixup, variance, variance * variance * (kurtosis - 1), "variance of λ");
    }
    const MixPlan odd = plan_mix(1, 2, 3, 5, width, height, {.probability = 1, .reversed = true});
    EXPECT_EQ(odd.partner, (std::vector<std::size_t>{4, 3, 2, 1, 0}));
    const MixPlan none = plan_mix(1, 2, 3, 3, width, height, {.probability = 0, .reversed = true});
    EXPECT_EQ(none.partner, (std::vector<std::size_t>{0, 1, 2}));
    for (std::uint64_t batch = 0; batch < 20; ++batch) {  // CutMix's λ stays uniform
        const MixPlan uniform = plan_mix(1, 2, batch, 4, width, height, {.probability = 1});
        const MixPlan beta = plan_mix(1, 2, batch, 4, width, height, {.probability = 1, .mixup_alpha = 0.8});
        ASSERT_EQ(uniform.kind, beta.kind);
        EXPECT_TRUE(uniform.kind == Kind::mixup || uniform.lambda == beta.lambda);
        EXPECT_TRUE(uniform.kind == Kind::cutmix || uniform.lambda != beta.lambda);
    }
}

TEST(HostMix, PartnersAreDrawnFromAllOrders) {
    constexpr int n = 24'000;
    std::array<std::array<int, 4>, 4> partners = {};
    for (std::uint64_t batch = 0; batch < n; ++batch) {
        const MixPlan plan = plan_mix(1, 0, batch, 4, width, height, {.probability = 1});
        ASSERT_NE(plan.kind, Kind::none);
        for (std::size_t row = 0; row < 4; ++row) ++partners[row][plan.partner[row]];
    }
    for (const auto& row : partners) {
        for (const int count : row) expect_share(count, n, 0.25, "partner");
    }
}

TEST(HostMix, BatchesChooseApartAndPartnersForgetWhatWasChosen) {
    std::array<int, 4> mixed = {};   // counts by: is a batch mixed, is the next one
    std::array<int, 4> cutmix = {};  // counts by the two batches' ways, if all are mixed
    std::array<int, 2 * 24> orders = {};
    std::vector<std::vector<std::size_t>> all_orders;
    std::vector<std::size_t> order = {0, 1, 2, 3};
    do all_orders.push_back(order);
    while (std::ranges::next_permutation(order).found);
    for (std::uint64_t batch = 0; batch < 40'000; ++batch) {
        const auto plan = [&](std::uint64_t after, double probability) {
            return plan_mix(5, 1, batch + after, 4, width, height, {.probability = probability});
        };
        const MixPlan one = plan(0, 1), next = plan(1, 1);
        ++cutmix[(one.kind == Kind::cutmix ? 2u : 0u) + (next.kind == Kind::cutmix ? 1u : 0u)];
        ++mixed[(plan(0, 0.5).kind != Kind::none ? 2u : 0u) + (plan(1, 0.5).kind != Kind::none ? 1u : 0u)];
        const auto found = static_cast<std::size_t>(std::ranges::find(all_orders, one.partner) - all_orders.begin());
        ++orders.at((one.kind == Kind::cutmix ? 24u : 0u) + found);
    }
    expect_even(mixed, "two batches in a row mixed");
    expect_even(cutmix, "ways of two batches in a row");
    expect_even(orders, "way and order of partners");
}

TEST(HostMix, APlanBelongsToItsSeedEpochAndBatch) {
    const auto fingerprint = [](std::uint64_t seed, std::uint64_t epoch, std::uint64_t batch) {
        const MixPlan plan = plan_mix(seed, epoch, batch, 128, width, height, {.probability = 1});
        return std::pair(plan.lambda, plan.partner);
    };
    EXPECT_EQ(fingerprint(1, 2, 3), fingerprint(1, 2, 3));
    EXPECT_NE(fingerprint(1, 2, 3), fingerprint(2, 2, 3));
    EXPECT_NE(fingerprint(1, 2, 3), fingerprint(1, 3, 3));
    EXPECT_NE(fingerprint(1, 2, 3), fingerprint(1, 2, 4));
}

TEST(HostMix, PixelsAndLabelsAreMixedAsPlanned) {
    constexpr std::size_t rows = 5, channels = 3, plane = width * height, size = channels * plane;
    std::vector<float> images(rows * size);
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(std::sin(0.37 * double(i)));
    const std::vector<std::int32_t> labels = {4, 8, 15, 16, 23};
    std::array<int, 3> seen = {};
    for (std::uint64_t batch = 0; batch < 60; ++batch) {
        const MixPlan plan = plan_mix(9, 0, batch, rows, width, height);
        ++seen.at(static_cast<std::size_t>(plan.kind));
        std::vector<float> mixed(images.size(), std::numeric_limits<float>::quiet_NaN());
        mix(plan, images, width, height, mixed);
        const auto others = partner_labels(plan, labels);
        std::size_t from_partner = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            ASSERT_EQ(others[row], labels[plan.partner[row]]);
            for (std::size_t i = 0; i < size; ++i) {
                const float own = images[row * size + i], other = images[plan.partner[row] * size + i];
                const int x = static_cast<int>(i % width) - plan.box.left;
                const int y = static_cast<int>(i % plane / width) - plan.box.top;
                const bool inside = x >= 0 && y >= 0 && x < plan.box.width && y < plan.box.height;
                from_partner += inside;
                const float found = mixed[row * size + i];
                if (plan.kind == Kind::mixup) {
                    // Two rounded factors, two rounded products of at most 1, one rounded sum: at most 5 times half of
                    // 2^-23.
                    ASSERT_NEAR(found, plan.lambda * own + (1 - plan.lambda) * other, 2.5 * 0x1p-23);
                } else {
                    ASSERT_EQ(found, inside ? other : own);
                }
            }
        }
        if (plan.kind != Kind::mixup) {
            EXPECT_NEAR(1 - double(from_partner) / double(rows * size), plan.lambda, 1e-15);
        }
    }
    for (const int kind : seen) EXPECT_GT(kind, 0);
}

TEST(HostMix, SizesAreChecked) {
    const MixPlan plan = plan_mix(0, 0, 0, 2, 4, 4);
    std::vector<float> images(2 * 3 * 16), small(5);
    const std::vector<std::int32_t> labels = {1, 2, 3};
    expect_holds(complaint([&] { mix(plan, small, 4, 4, images); }), "5 values, wanted a multiple of 2 x 4 x 4");
    expect_holds(complaint([&] { mix(plan, images, 4, 4, small); }), "room for 5 values, wanted 96");
    expect_holds(complaint([&] { partner_labels(plan, labels); }), "3 labels, wanted 2");
    expect_holds(complaint([] { plan_mix(0, 0, 0, 0, 4, 4); }), "0 images of 4 x 4 pixels");
    expect_holds(complaint([] {
                     for (std::uint64_t batch = 0; batch < 20; ++batch)
                         plan_mix(0, 0, batch, 2, 4, 4, {.probability = 1, .mixup_alpha = 5});
                 }),
                 "Beta(5, 5), wanted 0.1 to 4");
}

}  // namespace
}  // namespace vkf
