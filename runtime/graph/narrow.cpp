#include "graph/narrow.h"

#include <algorithm>

namespace vkf {

namespace {

/// Whether rows of the value begin and end between words that hold two elements each.
bool in_pairs(const Value& value) {
    const bool rows_even = value.type.shape.rows() <= 1 || value.pitch % 2 == 0;
    return value.type.shape.width() % 2 == 0 && value.offset % 2 == 0 && rows_even;
}

class Candidates {
public:
    Candidates(const Graph& graph, Format format) : graph_(graph), live_(live_nodes(graph)) {
        for (const Storage& storage : graph.storages())
            possible.push_back(storage.format == format ||
                               (storage.role == Role::transient && storage.type.dtype == DType::f32 &&
                                storage.type.shape.elements() > 0));
        for (const Value& value : graph.values())
            if (!in_pairs(value)) possible[value.storage] = false;
        for (const NamedTensor& output : graph.outputs()) refuse(output.tensor);
    }

    /// Drops what some kernel does not take; whether anything was dropped.
    bool sieve() {
        bool dropped = false;
        for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
            const Node& node = graph_.nodes()[i];
            if (!live_[i] || node.is_view()) continue;
            const Halves taken = node.op->halves(node.in);
            bool inputs = true, outputs = true;  // may all be narrow that the kernels take so
            visit(node, taken, [&](Tensor tensor, bool in, bool narrow) {
                if (!narrow)
                    dropped = refuse(tensor) || dropped;
                else if (!possible[graph_.value(tensor).storage])
                    (in ? inputs : outputs) = false;
            });
            const bool none = taken.rule == Halves::Rule::together && !(inputs && outputs);
            const bool no_output = taken.rule == Halves::Rule::outputs_follow && !inputs;
            visit(node, taken, [&](Tensor tensor, bool in, bool) {
                if (none || (no_output && !in)) dropped = refuse(tensor) || dropped;
            });
        }
        return dropped;
    }

    std::vector<bool> possible;  // by storage

private:
    static bool has(std::uint32_t bits, std::size_t k) { return k < 32 && (bits >> k & 1) != 0; }

    template <class Look>
    static void visit(const Node& node, const Halves& taken, const Look& look) {
        for (std::size_t k = 0; k < node.in.size(); ++k)
            if (node.in[k]) look(node.in[k], true, has(taken.in, k));
        for (std::size_t k = 0; k < node.out.size(); ++k) look(node.out[k], false, has(taken.out, k));
    }

    bool refuse(Tensor tensor) {
        const std::size_t storage = graph_.value(tensor).storage;
        const bool was = possible[storage];
        possible[storage] = false;
        return was;
    }

    const Graph& graph_;
    std::vector<bool> live_;
};

}  // namespace

void narrow(Graph& graph, Format format) {
    graph.activations = format;
    if (format == Format::f32) return;
    Candidates candidates(graph, format);
    while (candidates.sieve()) {
    }
    for (std::size_t s = 0; s < candidates.possible.size(); ++s)
        if (candidates.possible[s]) graph.set_format(s, format);
}

}  // namespace vkf
