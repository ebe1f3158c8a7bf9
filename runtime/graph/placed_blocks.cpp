#include "graph/placed_blocks.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "graph/plan.h"

namespace vkf {

namespace {

constexpr std::size_t MOST = 256;  // blocks per group

}  // namespace

void PlacedBlocks::Group::summarise() {
    end = blocks.front().offset;
    gap = 0;
    first = std::numeric_limits<std::size_t>::max(), last = 0;
    from = 0, to = std::numeric_limits<std::size_t>::max();
    for (const PlacedBlock& block : blocks) {
        gap = std::max(gap, block.offset - end);
        end = std::max(end, block.end);
        first = std::min(first, block.first), last = std::max(last, block.last);
        from = std::max(from, block.first), to = std::min(to, block.last);
    }
}

void PlacedBlocks::Group::insert(const PlacedBlock& block) {
    blocks.insert(std::ranges::upper_bound(blocks, block.offset, {}, &PlacedBlock::offset), block);
    summarise();
}

PlacedBlocks::Group PlacedBlocks::Group::split() {
    const auto middle = blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() / 2);
    Group upper;
    upper.blocks.assign(middle, blocks.end());
    blocks.erase(middle, blocks.end());
    upper.summarise();
    summarise();
    return upper;
}

void PlacedBlocks::add(const PlacedBlock& block) {
    if (groups_.empty()) groups_.emplace_back();
    const auto lowest = [](const Group& group) { return group.blocks.empty() ? 0 : group.blocks.front().offset; };
    auto at = std::ranges::upper_bound(groups_, block.offset, {}, lowest);
    if (at != groups_.begin()) --at;
    at->insert(block);
    if (at->blocks.size() <= MOST) return;
    Group upper = at->split();
    groups_.insert(at + 1, std::move(upper));
}

std::int64_t PlacedBlocks::lowest_fit(std::int64_t bytes, std::size_t first, std::size_t last,
                                      std::int64_t limit) const {
    std::int64_t offset = 0;
    const auto fits_below = [&](const PlacedBlock& block) {
        return uncut(offset, bytes, limit) <= block.offset - bytes;
    };
    for (const Group& group : groups_) {
        if (group.first > last || group.last < first) continue;
        if (group.from <= last && first <= group.to && group.gap < bytes) {
            if (fits_below(group.blocks.front())) break;
            offset = std::max(offset, group.end);
            continue;
        }
        for (const PlacedBlock& block : group.blocks) {
            if (block.first > last || block.last < first) continue;
            if (fits_below(block)) return uncut(offset, bytes, limit);
            offset = std::max(offset, block.end);
        }
    }
    return uncut(offset, bytes, limit);
}

}  // namespace vkf
