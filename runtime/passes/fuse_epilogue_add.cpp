#include "passes/fuse_epilogue_add.h"

#include "ops/elementwise.h"
#include "passes/uses.h"

namespace vkf {

namespace {

/// Whether output 0 is the sum of the node's two inputs.
bool adds(const Node& node) {
    const auto* op = dynamic_cast<const ElementwiseOp*>(node.op.get());
    return op && op->steps().size() == 1 && op->steps()[0].kind == ElementStep::Kind::add;
}

/// The node that makes `term`, adding to it `addend`, which is there before it is; nullopt where it cannot.
std::optional<Node> with_addend(const Graph& graph, const Uses& uses, Tensor term, Tensor addend) {
    const auto &maker = uses.makers[term.id()], &other = uses.makers[addend.id()];
    const Role role = graph.storage(addend).role;
    if (!maker || graph.storage(term).role != Role::transient || !uses.only_read_once(graph, term)) return {};
    if (other ? other->node >= maker->node || role == Role::state : role != Role::input) return {};
    Node node = graph.nodes()[maker->node];
    const auto epilogue = node.op->kernel_traits(node.in).epilogue_add;
    if (!epilogue || epilogue->output != maker->output || node.in[epilogue->addend]) return {};
    if (term.shape() != addend.shape()) return {};
    node.in[epilogue->addend] = addend;
    return node;
}

/// Fuses the first sum that can be; whether there was one. Nodes move, so that nothing known of them holds afterwards.
bool fuse_one(Graph& graph) {
    const Uses uses(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& sum = graph.nodes()[i];
        if (!uses.live[i] || !adds(sum)) continue;
        for (std::size_t k = 0; k < 2; ++k) {
            const Tensor term = sum.in[k];
            std::optional<Node> node = with_addend(graph, uses, term, sum.in[1 - k]);
            if (!node) continue;
            const Uses::Maker maker = *uses.makers[term.id()];
            node->out[maker.output] = sum.out[0];
            graph.replace({maker.node, i}, maker.node, std::move(*node));
            return true;
        }
    }
    return false;
}

}  // namespace

void fuse_epilogue_add(Graph& graph) {
    while (fuse_one(graph)) {
    }
}

}  // namespace vkf
