// Search for the largest size that fits.

#include "apps/inspect/largest_size.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vkf::test {
namespace {

using DemandOf = std::function<std::int64_t(std::int64_t)>;

/// Checks that the answer is the largest size whose demand is at most `room`, for a demand that grows.
void expect_largest(const DemandOf& bytes, std::int64_t room, std::int64_t most) {
    std::int64_t expected = 0;
    while (expected < most && bytes(expected + 1) <= room) ++expected;
    const LargestSize found = largest_size([&](std::int64_t size) { return Demand{bytes(size)}; }, room, most);
    EXPECT_EQ(found.size, expected) << "room " << room;
    if (expected > 0) {
        EXPECT_EQ(found.bytes, bytes(expected));
    }
    if (expected < most) {
        EXPECT_EQ(found.next.bytes, bytes(expected + 1)) << "room " << room;
        EXPECT_TRUE(found.next.refusal.empty());
    }
    EXPECT_LE(found.evaluations, 3 * std::log2(static_cast<double>(most)) + 2) << "room " << room;
}

TEST(HostLargestSize, IsFoundForDemandsOfAnyForm) {
    const DemandOf forms[] = {
        [](std::int64_t n) { return 100 + 7 * n; },
        [](std::int64_t n) { return 3 * n * n + 1; },
        [](std::int64_t n) { return 5 + n / 16 * 1000; },       // steps
        [](std::int64_t n) { return n < 300 ? n : n * 1000; },  // a cliff
        [](std::int64_t) { return std::int64_t{50}; },
    };
    for (const DemandOf& form : forms)
        for (const std::int64_t room : {0, 1, 50, 107, 108, 999, 5000, 301'000, 3'000'000})
            expect_largest(form, room, 2000);
}

TEST(HostLargestSize, FollowsALineInFewSteps) {
    const auto affine = [](std::int64_t n) { return Demand{1'000'000'000 + 12'345 * n}; };
    EXPECT_LE(largest_size(affine, 90'000'000'000, 1'000'000'000).evaluations, 16);
}

TEST(HostLargestSize, NamesTheReasonOfALimit) {
    const auto demand = [](std::int64_t n) { return n > 77 ? Demand{0, "too wide"} : Demand{n}; };
    const LargestSize found = largest_size(demand, 1000, 5000);
    EXPECT_EQ(found.size, 77);
    EXPECT_EQ(found.next.refusal, "too wide");
    EXPECT_EQ(largest_size([](std::int64_t n) { return Demand{n}; }, 1000, 9).next.refusal,
              "sizes beyond 9 are not tried");
    const LargestSize none = largest_size([](std::int64_t n) { return Demand{n + 1000}; }, 1000, 9);
    EXPECT_EQ(none.size, 0);
    EXPECT_EQ(none.next.bytes, 1001);
}

}  // namespace
}  // namespace vkf::test
