// Memory plan of transient tensors: lifetimes packed into one arena, which may be cut into several buffers.
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
    bool joined = false;  // placed directly after the previous block
};

struct Packing {
    std::vector<std::int64_t> offsets;  // one per block
    std::int64_t bytes = 0;             // the arena's size
    std::int64_t bound = 0;             // largest number of bytes alive at one step: no packing is smaller
    std::int64_t limit = 0;             // no block crosses a multiple of it
};

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Smallest offset from `offset` on at which `bytes` bytes cross no multiple of `limit`, where memory may be cut into
/// buffers. `limit` must be at least `bytes`.
std::int64_t uncut(std::int64_t offset, std::int64_t bytes, std::int64_t limit);

/// Places blocks so that blocks alive at the same step do not overlap and none crosses a multiple of `limit`, or of the
/// largest one's size if that is more. The largest block comes first, each at the lowest offset that fits. If that
/// takes 3 % more than the bound, pack() also tries the order of bytes times steps, largest first, and keeps the
/// smaller arena. Joined blocks are placed as one, but the memory of each is free for others before and after its own
/// time.
Packing pack(std::span<const Block> blocks, std::int64_t limit = no_limit);

/// Places tensors of the given bytes, all of which are needed all the time, at multiples of 256.
Packing pack_beside(std::span<const std::int64_t> bytes, std::int64_t limit = no_limit);

constexpr std::int64_t no_place = -1;

struct Plan {
    std::vector<std::int64_t> storage;               // arena offset in bytes by storage; no_place if it has none
    std::vector<std::vector<std::int64_t>> scratch;  // arena offset in bytes by node and scratch index
    std::vector<Block> blocks;                       // packed blocks, for reports
    std::int64_t bytes = 0;
    std::int64_t bound = 0;
    std::int64_t limit = 0;    // no tensor crosses a multiple of it
    std::int64_t aliased = 0;  // number of storages that reuse the memory of one that died
};

struct PlanOptions {
    std::int64_t alignment = 256;
    /// For tests that detect stray writes: unused bytes before and after each block. Memory is then not shared.
    std::int64_t guard = 0;
    std::int64_t limit = no_limit;  // limit of pack()
};

/// Plans the transient storages of the live nodes. `scratches[i]` are the elements of node i's temporaries. If the
/// values of a storage are in different parts of it, such as all gradients, each part takes its memory when it is first
/// made.
Plan plan(const Graph& graph, const LiveNodes& live, const std::vector<std::vector<std::int64_t>>& scratches,
          const PlanOptions& options = {});

}  // namespace vkf
