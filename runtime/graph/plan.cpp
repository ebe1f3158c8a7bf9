#include "graph/plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "graph/lifetimes.h"
#include "graph/placed_blocks.h"

namespace vkf {

std::int64_t uncut(std::int64_t offset, std::int64_t bytes, std::int64_t limit) {
    const std::int64_t left = limit - offset % limit;
    return bytes <= left ? offset : offset + left;
}

namespace {

/// Joined blocks [begin, end).
struct Run {
    std::size_t begin, end;
    std::int64_t bytes;
    double area;  // bytes times steps
};

std::vector<Run> runs_of(std::span<const Block> blocks) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (i == 0 || !blocks[i].joined) runs.push_back({i, i, 0, 0});
        runs.back().end = i + 1;
        runs.back().bytes += blocks[i].bytes;
        const std::size_t steps = blocks[i].last + 1 - blocks[i].first;
        runs.back().area += static_cast<double>(blocks[i].bytes) * static_cast<double>(steps);
    }
    return runs;
}

/// Open interval of offsets at which a run would overlap a placed block.
struct Taken {
    std::int64_t above, below;
};

/// Lowest offset at which a run of several blocks fits; each block is needed only for its own time.
std::int64_t lowest_fit(const Run& run, std::span<const Block> blocks, const PlacedBlocks& placed, std::int64_t limit) {
    std::vector<Taken> list;
    std::int64_t start = 0;
    for (std::size_t i = run.begin; i < run.end; start += blocks[i++].bytes)
        placed.each_needed(blocks[i].first, blocks[i].last, [&](const PlacedBlock& other) {
            list.push_back({other.offset - start - blocks[i].bytes, other.end - start});
        });
    std::ranges::stable_sort(list, {}, &Taken::above);
    std::int64_t offset = 0;
    for (const Taken& taken : list) {
        if (uncut(offset, run.bytes, limit) <= taken.above) break;
        offset = std::max(offset, taken.below);
    }
    return uncut(offset, run.bytes, limit);
}

/// Places runs in the given order, each at the lowest offset that fits.
Packing place(std::span<const Run> runs, std::span<const Block> blocks, std::int64_t limit) {
    Packing made;
    made.offsets.assign(blocks.size(), 0);
    made.limit = limit;
    PlacedBlocks placed;
    for (const Run& run : runs) {
        const Block& only = blocks[run.begin];
        std::int64_t offset = run.end - run.begin == 1 ? placed.lowest_fit(only.bytes, only.first, only.last, limit)
                                                       : lowest_fit(run, blocks, placed, limit);
        made.bytes = std::max(made.bytes, offset + run.bytes);
        for (std::size_t i = run.begin; i < run.end; offset += blocks[i++].bytes) {
            made.offsets[i] = offset;
            placed.add({offset, offset + blocks[i].bytes, blocks[i].first, blocks[i].last});
        }
    }
    return made;
}

/// Largest number of bytes alive at one step.
std::int64_t most_alive(std::span<const Block> blocks) {
    std::vector<std::pair<std::size_t, std::int64_t>> events;  // (step, change); a death counts from the next step
    for (const Block& block : blocks) {
        events.emplace_back(block.first, block.bytes);
        events.emplace_back(block.last + 1, -block.bytes);
    }
    std::sort(events.begin(), events.end());
    std::int64_t alive = 0, most = 0;
    for (const auto& [step, change] : events) most = std::max(most, alive += change);
    return most;
}

}  // namespace

Packing pack(std::span<const Block> blocks, std::int64_t limit) {
    std::vector<Run> runs = runs_of(blocks);
    for (const Run& run : runs) limit = std::max(limit, run.bytes);
    const std::int64_t bound = most_alive(blocks);
    std::ranges::stable_sort(runs, std::ranges::greater(), &Run::bytes);
    Packing best = place(runs, blocks, limit);
    if (best.bytes > bound + bound / 32) {
        std::ranges::stable_sort(runs, std::ranges::greater(), &Run::area);
        Packing other = place(runs, blocks, limit);
        if (other.bytes < best.bytes) best = std::move(other);
    }
    best.bound = bound;
    return best;
}

namespace {

/// Bytes that a block of `bytes` bytes takes.
std::int64_t padded(std::int64_t bytes, const PlanOptions& options = {}) {
    const std::int64_t guarded = std::max<std::int64_t>(bytes, 4) + 2 * options.guard;
    return (guarded + options.alignment - 1) / options.alignment * options.alignment;
}

}  // namespace

Packing pack_beside(std::span<const std::int64_t> bytes, std::int64_t limit) {
    std::vector<Block> blocks;
    for (const std::int64_t tensor : bytes) blocks.push_back({padded(tensor), 0, 0});
    return pack(blocks, limit);
}

Plan plan(const Graph& graph, const LiveNodes& live, const std::vector<std::vector<std::int64_t>>& scratches,
          const PlanOptions& options) {
    Lifetimes lives(graph, live);
    Plan made;
    if (options.guard == 0) made.aliased = lives.alias(live);
    made.storage.assign(graph.storages().size(), no_place);
    made.scratch.resize(graph.nodes().size());

    std::vector<std::size_t> block_of(graph.storages().size());  // first block of a storage
    for (std::size_t s = 0; s < graph.storages().size(); ++s) {
        if (graph.storages()[s].role != Role::transient || !lives.used(s) || lives.home(s).storage != s) continue;
        block_of[s] = made.blocks.size();
        const std::int64_t bytes = padded(graph.storages()[s].bytes(), options);
        // Between guard bands a storage stays in one piece.
        const std::vector<Block> parts = lives.blocks(s, bytes, options.guard > 0 ? bytes : options.alignment);
        made.blocks.insert(made.blocks.end(), parts.begin(), parts.end());
    }
    const std::size_t first_scratch = made.blocks.size();
    for (std::size_t i = 0; i < scratches.size(); ++i)
        for (const std::int64_t elements : scratches[i]) made.blocks.push_back({padded(elements * 4, options), i, i});

    if (options.guard > 0)
        for (Block& block : made.blocks) block.first = 0, block.last = graph.nodes().size();
    const Packing packing = pack(made.blocks, options.limit);
    made.bytes = packing.bytes;
    made.bound = packing.bound;
    made.limit = packing.limit;
    for (std::size_t s = 0; s < graph.storages().size(); ++s) {
        const auto [home, offset] = lives.home(s);
        if (graph.storages()[s].role == Role::transient && lives.used(s))
            made.storage[s] = packing.offsets[block_of[home]] + offset + options.guard;
    }
    std::size_t block = first_scratch;
    for (std::size_t i = 0; i < scratches.size(); ++i)
        for (std::size_t k = 0; k < scratches[i].size(); ++k)
            made.scratch[i].push_back(packing.offsets[block++] + options.guard);
    return made;
}

}  // namespace vkf
