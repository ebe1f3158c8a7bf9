#include "passes/fuse_elementwise.h"

#include <algorithm>
#include <set>

#include "ops/elementwise.h"
#include "passes/uses.h"

namespace vkf {

namespace {

class Pass {
public:
    explicit Pass(Graph& graph) : graph_(graph), uses_(graph), last_read_(graph.storages().size()) {
        for (std::size_t i = 0; i < graph.nodes().size(); ++i)
            for (const Tensor& in : graph.nodes()[i].in)
                if (in && uses_.live[i]) last_read_[graph.value(in).storage] = i;
        for (const NamedTensor& output : graph.outputs())
            last_read_[graph.value(output.tensor).storage] = graph.nodes().size();
    }

    /// Fuses the first pair that can be; whether there was one. Nothing known of the nodes holds afterwards.
    bool fuse_one() {
        for (std::size_t reader = 0; reader < graph_.nodes().size(); ++reader) {
            if (!uses_.live[reader]) continue;
            for (const Tensor& in : graph_.nodes()[reader].in) {
                if (!in || !may_go(in)) continue;
                const std::size_t maker = uses_.makers[in.id()]->node;
                if (!can_wait(maker, reader, in.elements())) continue;
                if (auto node = fused(graph_.nodes()[maker], graph_.nodes()[reader])) {
                    graph_.replace({maker, reader}, reader, std::move(*node));
                    return true;
                }
            }
        }
        return false;
    }

private:
    /// Whether a node makes this value and nothing else, for one reader. What is kept in 16 bits is rounded.
    bool may_go(Tensor value) const {
        const auto& maker = uses_.makers[value.id()];
        return maker && graph_.storage(value).role == Role::transient && value.format() == Format::f32 &&
               uses_.only_read_once(graph_, value) && graph_.nodes()[maker->node].out.size() == 1;
    }

    /// Whether what the maker reads is still there for the reader, without `freed` elements at least as well.
    bool can_wait(std::size_t maker, std::size_t reader, std::int64_t freed) const {
        std::set<std::uint32_t> storages;
        for (const Tensor& in : graph_.nodes()[maker].in)
            if (in) storages.insert(graph_.value(in).storage);
        for (std::size_t i = maker + 1; i < reader; ++i)
            for (std::size_t k = 0; k < graph_.nodes()[i].out.size(); ++k)
                if (graph_.nodes()[i].op->updates(k) &&
                    storages.contains(graph_.value(graph_.nodes()[i].out[k]).storage))
                    return false;
        for (const std::uint32_t storage : storages)
            if (graph_.storages()[storage].role == Role::transient && last_read_[storage] < reader)
                freed -= graph_.storages()[storage].type.shape.elements();
        return freed >= 0;
    }

    Graph& graph_;
    Uses uses_;
    std::vector<std::size_t> last_read_;  // by storage
};

}  // namespace

void fuse_elementwise(Graph& graph) {
    while (Pass(graph).fuse_one()) {
    }
}

}  // namespace vkf
