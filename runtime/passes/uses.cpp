#include "passes/uses.h"

namespace vkf {

Uses::Uses(const Graph& graph)
    : live(live_nodes(graph).nodes),
      readers(graph.values().size()),
      values_in(graph.storages().size()),
      makers(graph.values().size()) {
    for (std::uint32_t id = 0; id < graph.values().size(); ++id) values_in[graph.values()[id].storage].push_back(id);
    for (const NamedTensor& output : graph.outputs()) ++readers[output.tensor.id()];
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        for (std::size_t k = 0; k < node.out.size(); ++k) makers[node.out[k].id()] = Maker{i, k};
        for (const Tensor& in : node.in)
            if (live[i] && in) ++readers[in.id()];
    }
}

bool Uses::there_before(const Graph& graph, Tensor value, std::size_t node) const {
    const Role role = graph.storage(value).role;
    const auto& maker = makers[value.id()];
    return maker ? maker->node < node && role != Role::state : role == Role::input;
}

}  // namespace vkf
