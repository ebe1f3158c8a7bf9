#include "graph/plan.h"

#include <algorithm>
#include <functional>

#include "graph/lifetimes.h"

namespace vkf {

std::int64_t uncut(std::int64_t offset, std::int64_t bytes, std::int64_t limit) {
    const std::int64_t left = limit - offset % limit;
    return bytes <= left ? offset : offset + left;
}

namespace {

/// Blocks [begin, end), which are joined.
struct Run {
    std::size_t begin, end;
    std::int64_t bytes;
};

std::vector<Run> runs_of(std::span<const Block> blocks) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (i == 0 || !blocks[i].joined) runs.push_back({i, i, 0});
        runs.back().end = i + 1;
        runs.back().bytes += blocks[i].bytes;
    }
    return runs;
}

/// The offsets strictly between which a run would overlap with a block that is there.
struct Taken {
    std::int64_t above, below;
};

std::vector<Taken> taken_for(const Run& run, std::span<const Block> blocks, std::span<const std::size_t> placed,
                             std::span<const std::int64_t> offsets) {
    std::vector<Taken> list;
    std::int64_t start = 0;
    for (std::size_t i = run.begin; i < run.end; start += blocks[i++].bytes)
        for (const std::size_t other : placed) {
            if (blocks[i].first <= blocks[other].last && blocks[other].first <= blocks[i].last)
                list.push_back(
                    {offsets[other] - start - blocks[i].bytes, offsets[other] + blocks[other].bytes - start});
        }
    if (run.end - run.begin > 1) std::ranges::stable_sort(list, {}, &Taken::above);  // else by offset as they are
    return list;
}

}  // namespace

Packing pack(std::span<const Block> blocks, std::int64_t limit) {
    Packing made;
    made.offsets.assign(blocks.size(), 0);
    std::vector<Run> runs = runs_of(blocks);
    for (const Run& run : runs) limit = std::max(limit, run.bytes);
    made.limit = limit;
    std::ranges::stable_sort(runs, std::ranges::greater(), &Run::bytes);
    std::vector<std::size_t> placed;  // by offset
    for (const Run& run : runs) {
        std::int64_t offset = 0;
        for (const Taken& taken : taken_for(run, blocks, placed, made.offsets)) {
            if (uncut(offset, run.bytes, limit) <= taken.above) break;
            offset = std::max(offset, taken.below);
        }
        offset = uncut(offset, run.bytes, limit);
        made.bytes = std::max(made.bytes, offset + run.bytes);
        for (std::size_t i = run.begin; i < run.end; offset += blocks[i++].bytes) {
            made.offsets[i] = offset;
            const auto above = [&](std::size_t a, std::size_t b) { return made.offsets[a] < made.offsets[b]; };
            placed.insert(std::upper_bound(placed.begin(), placed.end(), i, above), i);
        }
    }
    std::vector<std::pair<std::size_t, std::int64_t>> events;  // (step, change); deaths count from the step after
    for (const Block& block : blocks) {
        events.emplace_back(block.first, block.bytes);
        events.emplace_back(block.last + 1, -block.bytes);
    }
    std::sort(events.begin(), events.end());
    std::int64_t alive = 0;
    for (const auto& [step, change] : events) made.bound = std::max(made.bound, alive += change);
    return made;
}

namespace {

/// What a block of so many bytes takes.
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

Plan plan(const Graph& graph, const std::vector<bool>& live, const std::vector<std::vector<std::int64_t>>& scratches,
          const PlanOptions& options) {
    Lifetimes lives(graph, live);
    Plan made;
    if (options.guard == 0) made.aliased = lives.alias(live);
    made.storage.assign(graph.storages().size(), no_place);
    made.scratch.resize(graph.nodes().size());

    std::vector<std::size_t> block_of(graph.storages().size());  // where a storage begins
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
