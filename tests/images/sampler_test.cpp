#include "models/images/augmentation/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/images/chance.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using Order = std::vector<std::size_t>;

Order counting(std::size_t n) {
    Order order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

/// All images of an epoch, batch after batch.
Order shown(Sampler& sampler, std::uint64_t epoch) {
    Order order;
    for (std::size_t number = 0; number < sampler.batches(); ++number) {
        EXPECT_EQ(sampler.first_place(number), order.size());
        const auto batch = sampler.batch(epoch, number);
        order.insert(order.end(), batch.begin(), batch.end());
    }
    return order;
}

TEST(HostSampler, AnEpochIsAPermutationAndKeepsItsShortBatch) {
    for (const auto& [batch, wanted] : std::vector<std::pair<std::size_t, std::size_t>>{{512, 98}, {128, 391}}) {
        Sampler sampler({50'000, batch, 1, false, 6});
        EXPECT_EQ(sampler.batches(), wanted);
        EXPECT_EQ(sampler.batch(0, wanted - 1).size(), 50'000 - (wanted - 1) * batch);
        Order order = shown(sampler, 0);
        EXPECT_NE(order, counting(50'000));
        std::ranges::sort(order);
        EXPECT_EQ(order, counting(50'000));
    }
}

TEST(HostSampler, ThreePassesAreThreePermutationsWithoutThePartialBatch) {
    Sampler sampler({50'000, 128, 3, true, 6});
    EXPECT_EQ(sampler.batches(), 1171u);
    const Order order = shown(sampler, 4);
    ASSERT_EQ(order.size(), 1171u * 128);
    std::vector<Order> passes;
    for (std::ptrdiff_t pass = 0; pass < 2; ++pass) {
        passes.emplace_back(order.begin() + pass * 50'000, order.begin() + (pass + 1) * 50'000);
    }
    EXPECT_NE(passes[0], passes[1]);
    for (Order& pass : passes) {
        std::ranges::sort(pass);
        EXPECT_EQ(pass, counting(50'000));
    }
    Order rest(order.begin() + 100'000, order.end());  // the remaining part of the third pass has no image twice
    std::ranges::sort(rest);
    EXPECT_EQ(std::ranges::adjacent_find(rest), rest.end());
}

TEST(HostSampler, ABatchBelongsToSeedEpochAndNumber) {
    Sampler one({1000, 64, 2, true, 6}), two({1000, 64, 2, true, 6}), other({1000, 64, 2, true, 7});
    const Order epoch3 = shown(one, 3);
    EXPECT_NE(shown(one, 4), epoch3);
    EXPECT_NE(shown(other, 3), epoch3);
    for (std::size_t number = two.batches(); number-- > 0;) {
        two.batch(number, number);  // reads another epoch in between
        const auto batch = two.batch(3, number);
        ASSERT_TRUE(std::equal(batch.begin(), batch.end(), epoch3.begin() + static_cast<std::ptrdiff_t>(64 * number)));
    }
}

TEST(HostSampler, EveryImageIsFirstEquallyOften) {
    constexpr int n = 10'000;
    std::array<int, 5> first = {};
    for (std::uint64_t epoch = 0; epoch < n; ++epoch) ++first[epoch_order({5, 1, 1, false, 1}, epoch)[0]];
    for (const int count : first) test::expect_share(count, n, 0.2, "first");
}

TEST(HostSampler, AllOrdersAreEquallyLikelyInEveryPassAndPassesAreDrawnApart) {
    // Index 0 … 23 of an order of 4: its digits in the factorial number system.
    const auto number = [](Order::const_iterator order) {
        std::size_t which = 0;
        for (std::ptrdiff_t i = 0; i < 4; ++i)
            which = which * static_cast<std::size_t>(4 - i) +
                    static_cast<std::size_t>(
                        std::count_if(order + i + 1, order + 4, [&](std::size_t later) { return later < order[i]; }));
        return which;
    };
    std::array<std::array<int, 24>, 3> orders = {};
    std::array<int, 24 * 24> first_and_second = {}, second_and_third = {};
    for (std::uint64_t epoch = 0; epoch < 30'000; ++epoch) {
        const Order order = epoch_order({4, 1, 3, true, 1}, epoch);
        std::array<std::size_t, 3> which;
        for (std::size_t pass = 0; pass < 3; ++pass) {
            which[pass] = number(order.begin() + static_cast<std::ptrdiff_t>(4 * pass));
            ++orders[pass].at(which[pass]);
        }
        ++first_and_second[which[0] * 24 + which[1]];
        ++second_and_third[which[1] * 24 + which[2]];
    }
    for (const auto& counts : orders) test::expect_even(counts, "orders of a pass");
    test::expect_even(first_and_second, "orders of passes 1 and 2");
    test::expect_even(second_and_third, "orders of passes 2 and 3");
}

// DeiT's RASampler on one device: each index of a permutation three times, cut to the number of images.
TEST(HostSampler, RepeatedImagesFollowThemselves) {
    const SamplerOptions once{.images = 7, .passes = 2, .seed = 5};
    SamplerOptions three = once;
    three.repeats = 3;
    const Order order = epoch_order(once, 4), repeated = epoch_order(three, 4);
    const Order wanted{order[0], order[0], order[0], order[1], order[1], order[1], order[2],
                       order[7], order[7], order[7], order[8], order[8], order[8], order[9]};
    EXPECT_EQ(repeated, wanted);
    EXPECT_EQ(Sampler({.images = 7, .batch = 2, .drop_last = true, .repeats = 3}).batches(), 3u);
}

TEST(HostSampler, EmptyEpochsAreRefused) {
    expect_holds(complaint([] { Sampler({0, 1}); }), "sampler: 0 images, batches of 1, 1 passes");
    expect_holds(complaint([] { Sampler({10, 0}); }), "batches of 0");
    expect_holds(complaint([] { Sampler({.images = 10, .repeats = 0}); }), "0 repeats");
    expect_holds(complaint([] { Sampler({10, 31, 3, true}); }), "batches of 31, wanted at most 30");
    Sampler sampler({10, 3});
    expect_holds(complaint([&] { sampler.batch(0, 4); }), "batch 4 of an epoch of 4");
}

}  // namespace
}  // namespace vkf
