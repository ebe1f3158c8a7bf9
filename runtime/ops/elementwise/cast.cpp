#include "ops/elementwise/cast.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// Copy of x, in the format of its storage.
class CastOp : public ElementwiseOp {
public:
    CastOp() : ElementwiseOp({{.kind = ElementStep::Kind::scale, .number = 1.0f}}) {}

    std::string_view name() const override { return "cast"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[0]}; }
};

bool is_gemm_operand(const Node& node, std::size_t input) {
    return (node.op->kernel_traits(node.in).gemm_operands >> input & 1) != 0;
}

bool is_weight(const Graph& graph, Tensor x) {
    const Storage& storage = graph.storage(x);
    return storage.role == Role::state && storage.format == Format::f32 && x.contiguous() && x.width() % 2 == 0 &&
           graph.value(x).offset % 2 == 0;
}

}  // namespace

Tensor cast(Tensor x) {
    return add_one(x.graph(), CastOp(), {contiguous(x)});
}

void cast_weights(Graph& graph) {
    std::map<std::uint32_t, Tensor> copies;  // by the state's value
    graph.rewrite([&](std::size_t, Node node) {
        for (std::size_t k = 0; k < node.in.size(); ++k) {
            const Tensor x = node.in[k];
            if (!x || !is_weight(graph, x) || !is_gemm_operand(node, k)) continue;
            Tensor& copy = copies[x.id()];
            if (!copy) copy = cast(x);
            node.in[k] = copy;
        }
        return node;
    });
}

void narrow_states(Graph& graph, std::span<const std::string> names, Format format) {
    std::vector<bool> narrow;
    for (const Storage& storage : graph.storages())
        narrow.push_back(storage.role == Role::state && std::ranges::find(names, storage.name) != names.end());
    for (const Node& node : graph.nodes()) {
        if (node.is_view()) continue;
        for (std::size_t k = 0; k < node.in.size(); ++k)
            if (const Tensor x = node.in[k]; x && !(is_weight(graph, x) && is_gemm_operand(node, k)))
                narrow[graph.value(x).storage] = false;
    }
    for (std::size_t s = 0; s < narrow.size(); ++s)
        if (narrow[s]) graph.set_format(s, format);
}

}  // namespace vkf
