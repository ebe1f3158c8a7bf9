// Which transient tensors share which memory: lifetimes packed into one arena, which may be cut into several buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// A run of memory needed from step `first` to step `last`, both included.
struct Block {
    std::int64_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    bool joined = false;  // lies right behind the block before it
};

struct Packing {
    std::vector<std::int64_t> offsets;  // of each block
    std::int64_t bytes = 0;             // the arena's size
    std::int64_t bound = 0;             // the most that is alive at any one step: no packing is smaller
    std::int64_t limit = 0;             // no block reaches across a multiple of it
};

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// The first offset from `offset` on at which so many bytes reach across no multiple of `limit`, at which memory may be
/// cut into buffers. `limit` is at least `bytes`.
std::int64_t uncut(std::int64_t offset, std::int64_t bytes, std::int64_t limit);

/// Places blocks so that none alive at the same step overlap and none reaches across a multiple of `limit`, or of the
/// largest one's size where that is more: largest first, each at the lowest offset that fits; where that takes 3 % more
/// than the bound, also those first that take most bytes for most steps, and the smaller arena counts. Blocks that are
/// joined count as one, but each is free for others before and after its own time.
Packing pack(std::span<const Block> blocks, std::int64_t limit = no_limit);

/// Places tensors of so many bytes that are all needed all the time, at multiples of 256.
Packing pack_beside(std::span<const std::int64_t> bytes, std::int64_t limit = no_limit);

constexpr std::int64_t no_place = -1;

struct Plan {
    std::vector<std::int64_t> storage;               // arena offset in bytes by storage, no_place if it is not there
    std::vector<std::vector<std::int64_t>> scratch;  // likewise by node and scratch index
    std::vector<Block> blocks;                       // what was packed, for reports
    std::int64_t bytes = 0;
    std::int64_t bound = 0;
    std::int64_t limit = 0;    // no tensor reaches across a multiple of it
    std::int64_t aliased = 0;  // storages that took over the memory of one that died
};

struct PlanOptions {
    std::int64_t alignment = 256;
    /// For tests that watch for stray writes: bytes left unused before and after each block. No memory is then shared.
    std::int64_t guard = 0;
    std::int64_t limit = no_limit;  // as of pack()
};

/// Plans the transient storages of the live nodes. `scratches[i]` are the elements of node i's temporaries. A storage
/// whose values lie in different parts of it, such as all gradients, takes each part's memory when that is first made.
Plan plan(const Graph& graph, const LiveNodes& live, const std::vector<std::vector<std::int64_t>>& scratches,
          const PlanOptions& options = {});

}  // namespace vkf
