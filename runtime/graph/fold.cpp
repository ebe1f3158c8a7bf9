#include "graph/fold.h"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace vkf {

namespace {

struct Maker {
    std::size_t node, output;
};

/// What the walk has to know of values and storages.
struct Uses {
    std::vector<int> readers;                // by value, among live nodes and outputs
    std::vector<int> values;                 // by storage
    std::vector<std::optional<Maker>> made;  // by value, by nodes already passed

    Uses(const Graph& graph, const std::vector<bool>& live)
        : readers(graph.values().size()), values(graph.storages().size()), made(graph.values().size()) {
        for (const Value& value : graph.values()) ++values[value.storage];
        for (const NamedTensor& output : graph.outputs()) ++readers[output.tensor.id()];
        for (std::size_t i = 0; i < graph.nodes().size(); ++i)
            for (const Tensor& in : graph.nodes()[i].in)
                if (live[i] && in) ++readers[in.id()];
    }
};

/// Whether the node that makes `term` can add `addend`, which is there before it is.
bool can_fold(const Graph& graph, const Uses& uses, Tensor term, Tensor addend) {
    const std::optional<Maker> maker = uses.made[term.id()], other = uses.made[addend.id()];
    const Role role = graph.storage(addend).role;
    const bool early = other ? maker && other->node < maker->node : role == Role::input;
    if (!maker || !early || role == Role::state || term.shape() != addend.shape()) return false;
    if (uses.readers[term.id()] != 1 || uses.values[graph.value(term).storage] != 1) return false;
    if (graph.storage(term).role != Role::transient) return false;
    const Node& node = graph.nodes()[maker->node];
    const std::optional<std::size_t> slot = node.op->takes_addend(maker->output);
    return slot && (*slot >= node.in.size() || !node.in[*slot]);
}

}  // namespace

void fold_sums(Graph& graph) {
    std::vector<bool> live = live_nodes(graph);
    Uses uses(graph, live);
    for (std::size_t i = 0; i < graph.nodes().size();) {
        const Node& node = graph.nodes()[i];
        bool folded = false;
        if (live[i] && node.op->adds()) {
            const std::array<Tensor, 2> in{node.in[0], node.in[1]};
            const Tensor sum = node.out[0];
            for (std::size_t k = 0; k < 2 && !folded; ++k) {
                if (!can_fold(graph, uses, in[k], in[1 - k])) continue;
                const Maker maker = *uses.made[in[k].id()];
                graph.fold_sum(i, maker.node, maker.output, in[1 - k]);
                uses.made[sum.id()] = maker;
                folded = true;
            }
        }
        if (folded) {
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
            continue;
        }
        for (std::size_t k = 0; k < node.out.size(); ++k) uses.made[node.out[k].id()] = Maker{i, k};
        ++i;
    }
}

}  // namespace vkf
