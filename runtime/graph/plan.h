// Which transient tensors share which memory: lifetimes packed into one arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// A run of memory needed from step `first` to step `last`, both included.
struct Block {
    std::int64_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
};

struct Packing {
    std::vector<std::int64_t> offsets;  // of each block
    std::int64_t bytes = 0;             // the arena's size
    std::int64_t bound = 0;             // the most that is alive at any one step: no packing is smaller
};

/// Places blocks so that none alive at the same step overlap: largest first, each at the lowest offset that fits.
Packing pack(std::span<const Block> blocks);

constexpr std::int64_t no_place = -1;

struct Plan {
    std::vector<std::int64_t> storage;               // arena offset in bytes by storage, no_place if it is not there
    std::vector<std::vector<std::int64_t>> scratch;  // likewise by node and scratch index
    std::vector<Block> blocks;                       // what was packed, for reports
    std::int64_t bytes = 0;
    std::int64_t bound = 0;
    std::int64_t aliased = 0;  // storages that took over the memory of one that died
};

struct PlanOptions {
    std::int64_t alignment = 256;
    /// For tests that watch for stray writes: bytes left unused before and after each block. No memory is then shared.
    std::int64_t guard = 0;
};

/// Plans the transient storages of the live nodes. `scratches[i]` are the elements of node i's temporaries.
Plan plan(const Graph& graph, const std::vector<bool>& live, const std::vector<std::vector<std::int64_t>>& scratches,
          const PlanOptions& options = {});

}  // namespace vkf
