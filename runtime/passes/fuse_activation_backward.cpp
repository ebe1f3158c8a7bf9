#include "passes/fuse_activation_backward.h"

#include <optional>
#include <utility>
#include <vector>

#include "ops/elementwise/elementwise.h"
#include "ops/matmul/matmul.h"
#include "passes/uses.h"

namespace vkf {

namespace {

/// Step of a node that only multiplies a gradient by an activation's derivative; null for other nodes.
const ElementStep* backward_step(const Node& node) {
    const auto* op = dynamic_cast<const ElementwiseOp*>(node.op.get());
    const bool one = op && op->steps().size() == 1 && op->steps()[0].kind == ElementStep::Kind::slope;
    return one ? &op->steps()[0] : nullptr;
}

}  // namespace

void fuse_activation_backward(Graph& graph) {
    const Uses uses(graph);
    std::vector<std::optional<Node>> nodes(graph.nodes().begin(), graph.nodes().end());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const ElementStep* step = uses.live[i] ? backward_step(graph.nodes()[i]) : nullptr;
        if (!step) continue;
        const Node& node = graph.nodes()[i];
        const Tensor pre_activation = node.in[step->a], gradient = node.in[step->b];
        const auto& maker = uses.makers[gradient.id()];
        if (!maker || !uses.only_read_once(graph, gradient)) continue;
        if (!uses.there_before(graph, pre_activation, maker->node)) continue;
        std::optional<Node> product =
            with_activation_backward(graph.nodes()[maker->node], pre_activation, step->activation);
        if (!product) continue;
        product->out = node.out;
        nodes[maker->node] = std::move(product);
        nodes[i].reset();
    }
    graph.rewrite([&](std::size_t i, const Node&) { return std::move(nodes[i]); });
}

}  // namespace vkf
