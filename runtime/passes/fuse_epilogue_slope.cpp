#include "passes/fuse_epilogue_slope.h"

#include <optional>
#include <utility>
#include <vector>

#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "passes/uses.h"

namespace vkf {

namespace {

/// The only step of a node that multiplies a gradient by an activation's derivative.
const ElementStep* slope(const Node& node) {
    const auto* op = dynamic_cast<const ElementwiseOp*>(node.op.get());
    const bool one = op && op->steps().size() == 1 && op->steps()[0].kind == ElementStep::Kind::slope;
    return one ? &op->steps()[0] : nullptr;
}

}  // namespace

void fuse_epilogue_slope(Graph& graph) {
    const Uses uses(graph);
    std::vector<std::optional<Node>> nodes(graph.nodes().begin(), graph.nodes().end());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const ElementStep* step = uses.live[i] ? slope(graph.nodes()[i]) : nullptr;
        if (!step) continue;
        const Node& node = graph.nodes()[i];
        const Tensor at = node.in[step->a], gradient = node.in[step->b];
        const auto& maker = uses.makers[gradient.id()];
        if (!maker || !uses.only_read_once(graph, gradient)) continue;
        if (!uses.there_before(graph, at, maker->node)) continue;
        std::optional<Node> product = times_slope(graph.nodes()[maker->node], at, step->activation);
        if (!product) continue;
        product->out = node.out;
        nodes[maker->node] = std::move(product);
        nodes[i].reset();
    }
    graph.rewrite([&](std::size_t i, const Node&) { return std::move(nodes[i]); });
}

}  // namespace vkf
