#include "graph/place.h"

namespace vkf {

namespace {

struct Maker {
    const Op* op = nullptr;
    std::size_t output = 0;
};

}  // namespace

void place_parts(Graph& graph) {
    const std::vector<bool> live = live_nodes(graph);
    std::vector<int> readers(graph.values().size()), values_in(graph.storages().size());
    std::vector<Maker> makers(graph.values().size());
    for (const Value& value : graph.values()) ++values_in[value.storage];
    for (const NamedTensor& output : graph.outputs()) ++readers[output.tensor.id()];
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        for (std::size_t k = 0; k < node.out.size(); ++k) makers[node.out[k].id()] = {node.op.get(), k};
        for (const Tensor& in : node.in)
            if (live[i] && in) ++readers[in.id()];
    }
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        for (std::size_t k = 0; live[i] && k < node.in.size(); ++k) {
            const Tensor part = node.in[k];
            const std::optional<View> place = part ? node.op->place(node.in, k) : std::nullopt;
            if (!place || readers[part.id()] != 1 || values_in[graph.value(part).storage] != 1) continue;
            const Maker& maker = makers[part.id()];
            if (maker.op && maker.op->makes_slices(maker.output)) graph.move_into(part, node.out[0], *place);
        }
    }
}

}  // namespace vkf
