// The rule of every mask on the host, its ranges of keys and its random blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/integers.h"
#include "ops/attention/attention_mask.h"

namespace vkf::test {
namespace {

/// Calls `visit` with every mask of small extents.
template <class Visit>
void each_mask(const Visit& visit) {
    const std::optional<std::int64_t> none;
    struct Pattern {
        std::int64_t dilation, block, global_first, global_last, random_blocks;
    };
    const Pattern patterns[]{{1, 1, 0, 0, 0}, {2, 1, 0, 0, 0}, {1, 2, 0, 0, 0}, {1, 1, 2, 0, 0},
                             {3, 1, 1, 2, 0}, {1, 3, 1, 0, 0}, {1, 2, 1, 1, 0}, {1, 1, 0, 1, 2},
                             {1, 2, 0, 0, 1}, {2, 2, 1, 1, 9}, {1, 20, 9, 9, 9}};
    for (const bool causal : {false, true})
        for (const bool diagonal : {false, true})
            for (const auto& left : {none, std::optional<std::int64_t>(0), std::optional<std::int64_t>(2)})
                for (const auto& right : {none, std::optional<std::int64_t>(0), std::optional<std::int64_t>(3)})
                    for (const Pattern& p : patterns)
                        visit(AttentionMask{.causal = causal,
                                            .diagonal = diagonal,
                                            .window_left = left,
                                            .window_right = right,
                                            .dilation = p.dilation,
                                            .block = p.block,
                                            .global_first = p.global_first,
                                            .global_last = p.global_last,
                                            .random_blocks = p.random_blocks});
}

std::int64_t block_of(std::int64_t position, std::int64_t size) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(position) / static_cast<double>(size)));
}

TEST(HostAttentionMaskRow, SeesByTheRule) {
    each_mask([](const AttentionMask& mask) {
        for (const std::int64_t t : {1, 2, 5, 8})
            for (const std::int64_t s : {1, 3, 8}) {
                const MaskRow row = mask.row(t, s);
                for (std::int64_t i = 0; i < t; ++i)
                    for (std::int64_t j = 0; j < s; ++j) {
                        const std::int64_t at = i + s - t, own = block_of(at, mask.block);
                        const std::int64_t other = block_of(j, mask.block), distance = other - own;
                        const std::int64_t last_global = block_of(s - 1, mask.block) + 1 - mask.global_last;
                        const bool window = (!mask.window_left || -distance <= *mask.window_left) &&
                                            (!mask.window_right || distance <= *mask.window_right) &&
                                            distance % mask.dilation == 0;
                        const bool first = mask.global_first > 0 && std::min(own, other) < mask.global_first;
                        const bool global = first || std::max(own, other) >= last_global;
                        const std::vector<std::int64_t> random = row.random_blocks(own);
                        const bool listed = window || global || std::ranges::find(random, other) != random.end();
                        const bool hidden = (mask.causal && j > at) || (mask.diagonal && j == at);
                        EXPECT_EQ(row.visible(i, j), listed && !hidden) << t << ' ' << s << ' ' << i << ' ' << j;
                    }
            }
    });
}

TEST(HostAttentionMaskRow, RangesAreTheVisibleKeys) {
    each_mask([](AttentionMask mask) {
        mask.diagonal = false;  // ranges include the diagonal key, and keys that dilation hides
        mask.dilation = 1;
        for (const std::int64_t t : {1, 2, 5, 8})
            for (const std::int64_t s : {1, 3, 8}) {
                const MaskRow row = mask.row(10, 10, 1, {9, static_cast<double>(t)}, {9, static_cast<double>(s)});
                double pairs = 0;
                for (std::int64_t i = 0; i < 10; ++i) {
                    const std::vector<MaskRow::Range> ranges = row.keys_of(i);
                    for (std::size_t r = 1; r < ranges.size(); ++r)
                        EXPECT_LT(ranges[r - 1].end, ranges[r].begin) << "one range in two parts";
                    for (std::int64_t j = 0; j < 10; ++j) {
                        const bool visited = std::ranges::any_of(
                            ranges, [&](const auto& range) { return range.begin <= j && j < range.end; });
                        EXPECT_EQ(row.visible(i, j), visited) << t << ' ' << s << ' ' << i << ' ' << j;
                        pairs += row.visible(i, j) ? 1 : 0;
                    }
                }
                EXPECT_EQ(row.pairs(), pairs);
            }
    });
}

const AttentionMask published{.window_left = 1,
                              .window_right = 1,
                              .block = 64,
                              .global_first = 1,
                              .global_last = 1,
                              .random_blocks = 3,
                              .random_seed = 1};

TEST(HostAttentionMaskRow, DrawsBlocksThatAreNotVisibleAnyway) {
    constexpr std::int64_t blocks = 11;
    const MaskRow row = published.row(blocks * 64, blocks * 64 - 5);
    EXPECT_TRUE(row.random_blocks(0).empty()) << "a global block sees all";
    EXPECT_TRUE(row.random_blocks(blocks - 1).empty());
    for (std::int64_t own = 1; own < blocks - 1; ++own) {
        const std::vector<std::int64_t> drawn = row.random_blocks(own);
        EXPECT_EQ(drawn.size(), 3u);
        for (std::size_t k = 0; k < drawn.size(); ++k) {
            EXPECT_TRUE(k == 0 || drawn[k] > drawn[k - 1]) << "twice";
            EXPECT_GT(std::abs(drawn[k] - own), 1) << "in the window";
            EXPECT_TRUE(drawn[k] > 0 && drawn[k] < blocks - 1) << "global";
        }
        EXPECT_EQ(drawn, row.random_blocks(own));
    }
    const MaskRow small = published.row(6 * 64, 6 * 64);
    EXPECT_EQ(small.random_blocks(1), (std::vector<std::int64_t>{3, 4})) << "all that there are";
}

TEST(HostAttentionMaskRow, DrawsEarlierBlocksOfACausalMaskWhateverFollows) {
    AttentionMask mask = published;
    mask.causal = true;
    mask.global_last = 0;
    const MaskRow all = mask.row(20 * 64, 20 * 64), prompt = mask.row(1, 9 * 64);
    for (std::int64_t own = 0; own < 9; ++own) {
        EXPECT_EQ(all.random_blocks(own), prompt.random_blocks(own));
        for (const std::int64_t drawn : all.random_blocks(own)) EXPECT_LT(drawn, own - 1);
    }
    EXPECT_EQ(all.random_blocks(5).size(), 3u);
    EXPECT_EQ(all.random_blocks(3), std::vector<std::int64_t>{1});
}

TEST(HostAttentionMaskRow, DrawsAllBlocksEquallyOften) {
    AttentionMask mask = published;
    std::vector<double> count(12);
    constexpr std::uint64_t draws = 3000;
    for (mask.random_seed = 0; mask.random_seed < draws; ++mask.random_seed)
        for (const std::int64_t drawn : mask.row(12 * 64, 12 * 64).random_blocks(4)) ++count[as_index(drawn)];
    for (const std::int64_t block : {1, 2, 6, 7, 8, 9, 10}) {
        const double p = 3.0 / 7.0, mean = static_cast<double>(draws) * p, deviation = std::sqrt(mean * (1 - p));
        EXPECT_NEAR(count[as_index(block)], mean, 5 * deviation) << block;
    }
}

TEST(HostAttentionMaskRow, VisitsPairsInProportionToTheLength) {
    for (const bool causal : {false, true})
        for (AttentionMask mask :
             {published, AttentionMask{.window_left = 64, .window_right = 64, .global_first = 16}}) {
            mask.causal = causal;
            const auto pairs = [&](std::int64_t n) { return mask.row(n, n).pairs(); };
            EXPECT_NEAR(pairs(32768) / pairs(16384), 2, 0.05);
        }
}

TEST(HostAttentionMaskRow, LengthsAreClamped) {
    const AttentionMask mask;
    EXPECT_EQ(mask.row(7, 9, 0, {-2}, {10}).queries, 0);
    EXPECT_EQ(mask.row(7, 9, 0, {-2}, {10}).keys, 9);
    EXPECT_EQ(mask.row(7, 9, 1, {3, 8}, {4, 0}).queries, 7);
    EXPECT_EQ(mask.row(7, 9, 1, {3, 8}, {4}).keys, 4);
    EXPECT_EQ(mask.row(7, 9).pairs(), 63);
}

}  // namespace
}  // namespace vkf::test
