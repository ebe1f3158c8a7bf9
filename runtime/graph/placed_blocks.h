// Blocks that have their place in an arena, by offset: where another one fits, without a look at each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vkf {

/// Bytes [offset, end), needed from step `first` to step `last`, both included.
struct PlacedBlock {
    std::int64_t offset, end;
    std::size_t first, last;
};

/// Kept in groups of neighbours. A group that is needed at none of a new block's steps is passed over, and so is one of
/// which every block is needed at one of them and which has no gap that is large enough: most of a training step's
/// memory, activations that wait for the backward pass, lies in such groups.
class PlacedBlocks {
public:
    void add(const PlacedBlock& block);

    /// The lowest offset at which so many bytes, needed from `first` to `last`, overlap with no block that is needed
    /// meanwhile, nor reach across a multiple of `limit`.
    std::int64_t lowest_fit(std::int64_t bytes, std::size_t first, std::size_t last, std::int64_t limit) const;

    /// Calls `see` with the blocks that are needed at one of these steps, by offset.
    template <class See>
    void each_needed(std::size_t first, std::size_t last, See&& see) const {
        for (const Group& group : groups_) {
            if (group.first > last || group.last < first) continue;
            for (const PlacedBlock& block : group.blocks)
                if (block.first <= last && first <= block.last) see(block);
        }
    }

private:
    struct Group {
        std::vector<PlacedBlock> blocks;  // by offset
        std::int64_t end = 0;             // the largest
        std::int64_t gap = 0;             // the most bytes between blocks that none of them has
        std::size_t first = 0, last = 0;  // the steps at which any is needed lie between these,
        std::size_t from = 0, to = 0;     // and all are needed at any step between these, if from <= to

        void insert(const PlacedBlock& block);
        void summarise();
        Group split();
    };

    std::vector<Group> groups_;  // by offset, none of them empty
};

}  // namespace vkf
