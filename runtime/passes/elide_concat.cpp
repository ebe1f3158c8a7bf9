#include "passes/elide_concat.h"

#include "passes/uses.h"

namespace vkf {

namespace {

/// True if the kernels that make the value, for one reader, can make it as a slice of wider rows.
bool can_be_slice(const Graph& graph, const Uses& uses, Tensor value) {
    const auto& maker = uses.makers[value.id()];
    if (!maker || !uses.only_read_once(graph, value)) return false;
    const Node& node = graph.nodes()[maker->node];
    return (node.op->kernel_traits(node.in).strided_outputs >> maker->output & 1) != 0;
}

/// True if the value fills its storage, which may then be placed in another one.
bool can_move(const Graph& graph, Tensor value) {
    const Storage& storage = graph.storage(value);
    return storage.role == Role::transient && storage.version == 0 && graph.value(value).offset == 0 &&
           value.contiguous() && value.elements() == storage.type.shape.elements();
}

}  // namespace

void elide_concat(Graph& graph) {
    Uses uses(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (!uses.live[i]) continue;
        const KernelTraits traits = node.op->kernel_traits(node.in);
        const std::vector<std::int64_t>& offsets = traits.concat_offsets;
        for (std::size_t k = 0; k < offsets.size(); ++k) {
            const Tensor part = node.in[k], whole = node.out[0];
            const std::int64_t end = k + 1 < offsets.size() ? offsets[k + 1] : whole.width();
            if (part && part.rows() == whole.rows() && part.width() == end - offsets[k] &&
                can_be_slice(graph, uses, part))
                graph.make_slice(part, whole, {.offset = offsets[k], .pitch = whole.width()});
        }
        for (std::size_t k = 0; k < traits.flat_offsets.size(); ++k) {
            const Tensor part = node.in[k], flat = node.out[0];
            const bool moved = part && graph.value(part).storage == graph.value(flat).storage;  // as an earlier input
            if (!part || moved || !can_move(graph, part)) continue;
            std::vector<std::uint32_t>& from = uses.values_in[graph.value(part).storage];
            std::vector<std::uint32_t>& to = uses.values_in[graph.value(flat).storage];
            graph.move_values(from, flat, traits.flat_offsets[k]);
            to.insert(to.end(), from.begin(), from.end());
            from.clear();
        }
    }
}

}  // namespace vkf
