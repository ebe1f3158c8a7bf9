#include "passes/fuse_epilogue_add.h"

#include <optional>
#include <utility>
#include <vector>

#include "ops/elementwise/elementwise.h"
#include "passes/uses.h"

namespace vkf {

namespace {

/// True if output 0 is the sum of the node's two inputs.
bool adds(const Node& node) {
    const auto* op = dynamic_cast<const ElementwiseOp*>(node.op.get());
    return op && op->steps().size() == 1 && op->steps()[0].kind == ElementStep::Kind::add;
}

class EpilogueFusion {
public:
    explicit EpilogueFusion(const Graph& graph)
        : graph_(graph), uses_(graph), nodes_(graph.nodes().begin(), graph.nodes().end()) {}

    /// The new nodes, by their old numbers; none for a sum that another node makes.
    std::vector<std::optional<Node>> run() {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (uses_.live[i] && adds(*nodes_[i])) fuse(i);
        return std::move(nodes_);
    }

private:
    void fuse(std::size_t sum) {
        const Tensor out = nodes_[sum]->out[0];
        for (std::size_t k = 0; k < 2; ++k) {
            const Tensor term = nodes_[sum]->in[k];
            std::optional<Node> node = with_addend(term, nodes_[sum]->in[1 - k]);
            if (!node) continue;
            const Uses::Maker maker = *uses_.makers[term.id()];
            node->out[maker.output] = out;
            nodes_[maker.node] = std::move(node);
            nodes_[sum].reset();
            uses_.makers[out.id()] = maker;
            return;
        }
    }

    /// The node that makes `term`, extended to add `addend`, which must exist before it; nullopt if it cannot.
    std::optional<Node> with_addend(Tensor term, Tensor addend) const {
        const auto& maker = uses_.makers[term.id()];
        if (!maker || graph_.storage(term).role != Role::transient || !uses_.only_read_once(graph_, term)) return {};
        if (!uses_.there_before(graph_, addend, maker->node)) return {};
        Node node = *nodes_[maker->node];
        const auto epilogue = node.op->kernel_traits(node.in).epilogue_add;
        if (!epilogue || epilogue->output != maker->output || node.in[epilogue->addend]) return {};
        if (term.shape() != addend.shape()) return {};
        node.in[epilogue->addend] = addend;
        return node;
    }

    const Graph& graph_;
    Uses uses_;
    std::vector<std::optional<Node>> nodes_;
};

}  // namespace

void fuse_epilogue_add(Graph& graph) {
    auto nodes = EpilogueFusion(graph).run();
    graph.rewrite([&](std::size_t i, const Node&) { return std::move(nodes[i]); });
}

}  // namespace vkf
