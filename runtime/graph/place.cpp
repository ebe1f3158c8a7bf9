#include "graph/place.h"

#include "graph/uses.h"

namespace vkf {

void place_parts(Graph& graph) {
    const Uses uses(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        for (std::size_t k = 0; uses.live[i] && k < node.in.size(); ++k) {
            const Tensor part = node.in[k];
            const std::optional<View> place = part ? node.op->place(node.in, k) : std::nullopt;
            if (!place || !uses.only_read_once(graph, part)) continue;
            const auto& maker = uses.makers[part.id()];
            if (maker && graph.nodes()[maker->node].op->makes_slices(maker->output))
                graph.move_into(part, node.out[0], *place);
        }
    }
}

}  // namespace vkf
