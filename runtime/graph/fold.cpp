#include "graph/fold.h"

#include "graph/uses.h"

namespace vkf {

namespace {

/// Whether the node that makes `term` can add `addend`, which is there before it is.
bool can_fold(const Graph& graph, const Uses& uses, Tensor term, Tensor addend) {
    const auto &maker = uses.makers[term.id()], &other = uses.makers[addend.id()];
    const Role role = graph.storage(addend).role;
    if (!maker || graph.storage(term).role != Role::transient || !uses.only_read_once(graph, term)) return false;
    if (other ? other->node >= maker->node || role == Role::state : role != Role::input) return false;
    const Node& node = graph.nodes()[maker->node];
    const std::optional<std::size_t> slot = node.op->takes_addend(maker->output);
    return slot && !node.in[*slot] && term.shape() == addend.shape();
}

/// Folds the first sum that can be; whether there was one. Nodes move, so that nothing known of them holds afterwards.
bool fold_one(Graph& graph) {
    const Uses uses(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (!uses.live[i] || !node.op->adds()) continue;
        for (std::size_t k = 0; k < 2; ++k) {
            const Tensor term = node.in[k], addend = node.in[1 - k];
            if (!can_fold(graph, uses, term, addend)) continue;
            const Uses::Maker maker = *uses.makers[term.id()];
            graph.fold_sum(i, maker.node, maker.output, addend);
            return true;
        }
    }
    return false;
}

}  // namespace

void fold_sums(Graph& graph) {
    while (fold_one(graph)) {
    }
}

}  // namespace vkf
