// Placed blocks of an arena, by offset: finds the place where another block fits without looking at each of them.
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

/// Blocks, kept in groups of neighbours. A search skips a group that is needed at none of the new block's steps. It
/// also skips a group whose blocks are all needed at some of these steps and which has no gap that is large enough:
/// most of a training step's memory, activations that wait for the backward pass, is in such groups.
class PlacedBlocks {
public:
    void add(const PlacedBlock& block);

    /// Lowest offset at which `bytes` bytes, needed from `first` to `last`, overlap no block that is needed at these
    /// steps and cross no multiple of `limit`.
    std::int64_t lowest_fit(std::int64_t bytes, std::size_t first, std::size_t last, std::int64_t limit) const;

    /// Calls `see` with each block that is needed at one of these steps, by offset.
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
        std::int64_t end = 0;             // largest end of a block
        std::int64_t gap = 0;             // largest number of bytes between blocks
        std::size_t first = 0, last = 0;  // no block is needed before `first` or after `last`
        std::size_t from = 0, to = 0;     // all blocks are needed from step `from` to step `to`, if from <= to

        void insert(const PlacedBlock& block);
        void summarise();
        Group split();
    };

    std::vector<Group> groups_;  // by offset; no group is empty
};

}  // namespace vkf
