#include "graph/lifetimes.h"

#include <algorithm>

namespace vkf {

void Lifetimes::Life::join(const Life& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
}

Lifetimes::Lifetimes(const Graph& graph, const LiveNodes& live)
    : graph_(graph),
      values_(graph.values().size()),
      storages_(graph.storages().size()),
      homes_(storages_.size()),
      held_(storages_.size()) {
    for (std::size_t s = 0; s < homes_.size(); ++s) homes_[s].storage = s;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        if (!live[i]) continue;
        for (const Tensor& out : outputs_to_make(graph, live, graph.nodes()[i]))
            if (out) touch(out, i);
        for (const Tensor& in : graph.nodes()[i].in)
            if (in) touch(in, i);
    }
    for (const NamedTensor& output : graph.outputs()) touch(output.tensor, graph.nodes().size());
}

void Lifetimes::touch(Tensor tensor, std::size_t step) {
    if (values_[tensor.id()].first == never) held_[storage(tensor)].push_back(tensor.id());
    values_[tensor.id()].join({step, step});
    storages_[storage(tensor)].join({step, step});
}

// --- Sharing -------------------------------------------------------------------------------------

bool Lifetimes::whole(Tensor tensor) const {
    return graph_.value(tensor).offset == 0 && tensor.contiguous() &&
           tensor.elements() == graph_.storage(tensor).type.shape.elements();
}

bool Lifetimes::begins_at(std::size_t i, Tensor made) const {
    const Span here = span(made.id());
    return std::ranges::all_of(spans(homes_[storage(made)].storage), [&](const Span& other) {
        return other.life.first >= i || other.end <= here.begin || here.end <= other.begin;
    });
}

void Lifetimes::move(std::size_t storage, Home home) {
    std::vector<std::size_t> moved;
    for (const std::size_t value : held_[storage]) moved.push_back(graph_.values()[value].storage);
    std::ranges::sort(moved);
    moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
    for (const std::size_t s : moved) homes_[s] = {home.storage, home.offset + homes_[s].offset};
    held_[home.storage].insert(held_[home.storage].end(), held_[storage].begin(), held_[storage].end());
    held_[storage].clear();
    storages_[home.storage].join(storages_[storage]);
}

bool Lifetimes::share(std::size_t i, Tensor out, Tensor in) {
    const std::size_t from = homes_[storage(in)].storage;
    if (graph_.storage(in).role != Role::transient || storages_[from].last != i) return false;
    if (!whole(in) || in.elements() != out.elements() || in.format() != out.format()) return false;
    if (whole(out)) {
        move(storage(out), homes_[storage(in)]);
        return true;
    }
    // The shared place is the output's. Everything else placed in the input's memory moves along.
    const bool alone = graph_.storages()[from].bytes() == bytes_of(out.elements(), out.format());
    if (!alone || !out.contiguous() || !begins_at(i, out)) return false;
    const Home whole = homes_[storage(out)];
    move(from, {whole.storage, whole.offset + bytes_of(graph_.value(out).offset, out.format())});
    return true;
}

std::int64_t Lifetimes::alias(const LiveNodes& live) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
        const Node& node = graph_.nodes()[i];
        if (!live[i] || node.is_view()) continue;
        std::vector<std::size_t> taken;  // storages whose memory an output has taken already
        for (std::size_t o = 0; o < node.out.size(); ++o) {
            const Tensor out = node.out[o];
            if (graph_.storage(out).role != Role::transient || node.op->updates(o) || values_[out.id()].first == never)
                continue;
            for (std::size_t k = 0; k < node.in.size(); ++k) {
                if (!node.in[k] || !node.op->may_alias(o, k)) continue;
                const std::size_t in = homes_[storage(node.in[k])].storage;
                if (std::ranges::find(taken, in) != taken.end() || !share(i, out, node.in[k])) continue;
                taken.insert(taken.end(), {in, homes_[storage(out)].storage});
                ++count;
                break;
            }
        }
    }
    return count;
}

// --- Memory --------------------------------------------------------------------------------------

Lifetimes::Span Lifetimes::span(std::size_t value) const {
    const Value& at = graph_.values()[value];
    const Storage& storage = graph_.storages()[at.storage];
    const bool dense = at.type.shape.rows() <= 1 || at.pitch == at.type.shape.width();
    const std::int64_t offset = dense ? bytes_of(at.offset, storage.format) : 0;
    const std::int64_t bytes = dense ? bytes_of(at.type.shape.elements(), storage.format) : storage.bytes();
    const std::int64_t begin = homes_[at.storage].offset + offset;
    return {begin, begin + bytes, values_[value]};
}

std::vector<Lifetimes::Span> Lifetimes::spans(std::size_t home) const {
    std::vector<Span> list;
    for (const std::size_t value : held_[home]) list.push_back(span(value));
    return list;
}

std::vector<Block> Lifetimes::blocks(std::size_t storage, std::int64_t bytes, std::int64_t alignment) const {
    std::vector<Span> list = spans(storage);
    std::vector<std::int64_t> cuts{0, bytes};
    for (Span& span : list) {
        span.begin = span.begin / alignment * alignment;
        const std::int64_t end = std::max(span.end, span.begin + 1);  // an empty value has a place, too
        span.end = std::min(bytes, (end + alignment - 1) / alignment * alignment);
        cuts.insert(cuts.end(), {span.begin, span.end});
    }
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<Block> made;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
        Life life;
        for (const Span& span : list)
            if (span.begin <= cuts[c] && cuts[c + 1] <= span.end) life.join(span.life);
        if (!made.empty() &&
            (life.first == never || (made.back().first == life.first && made.back().last == life.last)))
            made.back().bytes += cuts[c + 1] - cuts[c];
        else
            made.push_back({cuts[c + 1] - cuts[c], life.first, life.last, !made.empty()});
    }
    return made;
}

}  // namespace vkf
