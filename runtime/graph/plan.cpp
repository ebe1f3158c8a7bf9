#include "graph/plan.h"

#include <algorithm>
#include <numeric>

namespace vkf {

std::int64_t uncut(std::int64_t offset, std::int64_t bytes, std::int64_t limit) {
    const std::int64_t left = limit - offset % limit;
    return bytes <= left ? offset : offset + left;
}

Packing pack(std::span<const Block> blocks, std::int64_t limit) {
    Packing made;
    made.offsets.assign(blocks.size(), 0);
    for (const Block& block : blocks) limit = std::max(limit, block.bytes);
    made.limit = limit;
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
    std::vector<std::size_t> placed;  // by offset
    for (const std::size_t i : order) {
        std::int64_t offset = 0;
        for (const std::size_t other : placed) {
            const bool together = blocks[i].first <= blocks[other].last && blocks[other].first <= blocks[i].last;
            if (!together) continue;
            if (uncut(offset, blocks[i].bytes, limit) + blocks[i].bytes <= made.offsets[other]) break;
            offset = std::max(offset, made.offsets[other] + blocks[other].bytes);
        }
        offset = uncut(offset, blocks[i].bytes, limit);
        made.offsets[i] = offset;
        made.bytes = std::max(made.bytes, offset + blocks[i].bytes);
        placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                       [&](std::size_t a, std::size_t b) { return made.offsets[a] < made.offsets[b]; }),
                      i);
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

constexpr std::size_t never = static_cast<std::size_t>(-1);

/// First and last use of each storage, and which storages end up in the memory of an earlier one.
class Lifetimes {
public:
    Lifetimes(const Graph& graph, const std::vector<bool>& live) : graph_(graph) {
        const std::size_t count = graph.storages().size();
        first.assign(count, never);
        last.assign(count, 0);
        home.resize(count);
        std::iota(home.begin(), home.end(), std::size_t{0});
        for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
            if (!live[i]) continue;
            for (const Tensor& out : outputs_to_make(graph, live, graph.nodes()[i]))
                if (out) touch(out, i);
            for (const Tensor& in : graph.nodes()[i].in)
                if (in) touch(in, i);
        }
        for (const NamedTensor& output : graph.outputs()) touch(output.tensor, graph.nodes().size());
    }

    /// Lets outputs take over the memory of inputs that die at the node that makes them. Returns how many did.
    std::int64_t alias(const std::vector<bool>& live) {
        std::int64_t count = 0;
        for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
            const Node& node = graph_.nodes()[i];
            if (!live[i] || node.is_view()) continue;
            std::vector<std::size_t> taken;
            for (std::size_t o = 0; o < node.out.size(); ++o) {
                const std::size_t out = storage(node.out[o]);
                if (graph_.storages()[out].role != Role::transient || node.op->updates(o) || first[out] == never)
                    continue;
                for (std::size_t k = 0; k < node.in.size(); ++k) {
                    if (!node.in[k] || !node.op->may_alias(o, k) || !whole(node.in[k])) continue;
                    const std::size_t in = home[storage(node.in[k])];
                    if (graph_.storage(node.in[k]).role != Role::transient || last[in] != i ||
                        !alike(graph_.storage(node.in[k]), graph_.storages()[out]) ||
                        std::find(taken.begin(), taken.end(), in) != taken.end())
                        continue;
                    taken.push_back(in);
                    home[out] = in;
                    last[in] = last[out];
                    ++count;
                    break;
                }
            }
        }
        return count;
    }

    std::vector<std::size_t> first, last;  // of the storages that are their own home
    std::vector<std::size_t> home;

private:
    std::size_t storage(Tensor tensor) const { return graph_.value(tensor).storage; }

    /// Whether element i of both lies in the same bytes.
    static bool alike(const Storage& a, const Storage& b) {
        return a.type.shape.elements() == b.type.shape.elements() && a.format == b.format;
    }

    bool whole(Tensor tensor) const {
        return graph_.value(tensor).offset == 0 && tensor.contiguous() &&
               tensor.elements() == graph_.storage(tensor).type.shape.elements();
    }

    void touch(Tensor tensor, std::size_t step) {
        const std::size_t at = storage(tensor);
        if (first[at] == never) first[at] = step;
        last[at] = std::max(last[at], step);
    }

    const Graph& graph_;
};

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

    std::vector<std::size_t> block_of(graph.storages().size(), never);
    for (std::size_t s = 0; s < graph.storages().size(); ++s) {
        if (graph.storages()[s].role != Role::transient || lives.first[s] == never || lives.home[s] != s) continue;
        block_of[s] = made.blocks.size();
        made.blocks.push_back({padded(graph.storages()[s].bytes(), options), lives.first[s], lives.last[s]});
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
        const std::size_t block = block_of[lives.home[s]];
        if (graph.storages()[s].role == Role::transient && lives.first[s] != never)
            made.storage[s] = packing.offsets[block] + options.guard;
    }
    std::size_t block = first_scratch;
    for (std::size_t i = 0; i < scratches.size(); ++i)
        for (std::size_t k = 0; k < scratches[i].size(); ++k)
            made.scratch[i].push_back(packing.offsets[block++] + options.guard);
    return made;
}

}  // namespace vkf
