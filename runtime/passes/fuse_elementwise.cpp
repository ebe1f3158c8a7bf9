#include "passes/fuse_elementwise.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ops/elementwise/elementwise.h"
#include "passes/uses.h"

namespace vkf {

namespace {

class ElementwiseFusion {
public:
    explicit ElementwiseFusion(const Graph& graph)
        : graph_(graph),
          uses_(graph),
          nodes_(graph.nodes().begin(), graph.nodes().end()),
          last_read_(graph.storages().size()),
          updates_(graph.storages().size()) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const Node& node = graph.nodes()[i];
            for (const Tensor& in : node.in)
                if (in && uses_.live[i]) last_read_[graph.value(in).storage] = i;
            for (std::size_t k = 0; k < node.out.size(); ++k)
                if (node.op->updates(k)) updates_[graph.value(node.out[k]).storage].push_back(i);
        }
        for (const NamedTensor& output : graph.outputs())
            last_read_[graph.value(output.tensor).storage] = nodes_.size();
    }

    /// The new nodes, by their old numbers; none for nodes that were fused into others.
    std::vector<std::optional<Node>> run() {
        // A fused pair may let an earlier pair fuse: inputs of its first node are now kept for longer.
        while (sweep()) {
        }
        return std::move(nodes_);
    }

private:
    bool sweep() {
        bool any = false;
        for (std::size_t reader = 0; reader < nodes_.size(); ++reader)
            while (nodes_[reader] && uses_.live[reader] && fuse_into(reader)) any = true;
        return any;
    }

    /// Fuses the node with the first maker of an input that it can be fused with; true if there was one.
    bool fuse_into(std::size_t reader) {
        for (const Tensor& in : nodes_[reader]->in) {
            if (!in || !may_go(in)) continue;
            const std::size_t maker = uses_.makers[in.id()]->node;
            std::optional<Node> node = fused(*nodes_[maker], *nodes_[reader]);
            if (!node || !can_wait(maker, reader, in.elements())) continue;
            for (const Tensor& read : nodes_[maker]->in)
                if (read)
                    last_read_[graph_.value(read).storage] = std::max(last_read_[graph_.value(read).storage], reader);
            nodes_[maker].reset();
            nodes_[reader] = std::move(node);
            return true;
        }
        return false;
    }

    /// True if a node makes only this value, for one reader. Values kept in 16 bits are excluded: they are rounded.
    bool may_go(Tensor value) const {
        const auto& maker = uses_.makers[value.id()];
        return maker && graph_.storage(value).role == Role::transient && value.format() == Format::f32 &&
               uses_.only_read_once(graph_, value) && graph_.nodes()[maker->node].out.size() == 1;
    }

    /// True if the maker's inputs are unchanged at the reader, and keeping them until then takes at most `freed`
    /// elements.
    bool can_wait(std::size_t maker, std::size_t reader, std::int64_t freed) const {
        std::set<std::uint32_t> storages;
        for (const Tensor& in : nodes_[maker]->in)
            if (in) storages.insert(graph_.value(in).storage);
        for (const std::uint32_t storage : storages) {
            const std::vector<std::size_t>& updates = updates_[storage];
            const auto next = std::ranges::upper_bound(updates, maker);
            if (next != updates.end() && *next < reader) return false;
            if (graph_.storages()[storage].role == Role::transient && last_read_[storage] < reader)
                freed -= graph_.storages()[storage].type.shape.elements();
        }
        return freed >= 0;
    }

    const Graph& graph_;
    Uses uses_;
    std::vector<std::optional<Node>> nodes_;
    std::vector<std::size_t> last_read_;             // by storage
    std::vector<std::vector<std::size_t>> updates_;  // by storage: the nodes that change it
};

}  // namespace

void fuse_elementwise(Graph& graph) {
    auto nodes = ElementwiseFusion(graph).run();
    graph.rewrite([&](std::size_t i, const Node&) { return std::move(nodes[i]); });
}

}  // namespace vkf
