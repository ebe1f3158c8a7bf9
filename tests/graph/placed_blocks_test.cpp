#include "graph/placed_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "graph/plan.h"

namespace vkf {
namespace {

/// Lowest offset at which a block fits, found by a search over all blocks.
std::int64_t lowest_fit(std::vector<PlacedBlock> placed, std::int64_t bytes, std::size_t first, std::size_t last,
                        std::int64_t limit) {
    std::ranges::stable_sort(placed, {}, &PlacedBlock::offset);
    std::int64_t offset = 0;
    for (const PlacedBlock& block : placed) {
        if (block.first > last || block.last < first) continue;
        if (uncut(offset, bytes, limit) <= block.offset - bytes) break;
        offset = std::max(offset, block.end);
    }
    return uncut(offset, bytes, limit);
}

TEST(HostPlacedBlocks, FindTheSamePlacesAsALookAtEachBlock) {
    for (const std::int64_t limit : {no_limit, std::int64_t{5000}}) {
        Random random(7, "placed blocks");
        PlacedBlocks groups;
        std::vector<PlacedBlock> list;
        for (int i = 0; i < 3000; ++i) {
            const bool kept = random.below(2);  // long, as values that wait for a backward pass
            const auto bytes = static_cast<std::int64_t>(1 + random.below(kept ? 8 : 900));
            const std::size_t first = random.below(kept ? 100 : 1000),
                              last = kept ? 900 + random.below(100) : first + random.below(20);
            const std::int64_t offset = groups.lowest_fit(bytes, first, last, limit);
            ASSERT_EQ(offset, lowest_fit(list, bytes, first, last, limit)) << i;
            list.push_back({offset, offset + bytes, first, last});
            groups.add(list.back());
        }
    }
}

TEST(HostPlacedBlocks, AreSeenByOffsetIfTheyAreNeeded) {
    Random random(8, "placed blocks");
    PlacedBlocks groups;
    std::vector<std::int64_t> wanted;
    for (int i = 0; i < 2000; ++i) {
        const auto offset = static_cast<std::int64_t>(random.below(100'000));
        const std::size_t first = random.below(100), last = first + random.below(10);
        groups.add({offset, offset + 10, first, last});
        if (first <= 50 && last >= 45) wanted.push_back(offset);
    }
    std::ranges::sort(wanted);
    std::vector<std::int64_t> seen;
    groups.each_needed(45, 50, [&](const PlacedBlock& block) { seen.push_back(block.offset); });
    EXPECT_EQ(seen, wanted);
}

}  // namespace
}  // namespace vkf
