#include "ops/backward.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/optimizer/optimize.h"

namespace vkf {

namespace {

/// Adds a region's nodes a second time, and maps their values to the new ones.
class Replay {
public:
    Replay(Graph& graph, const Region& region) : region_(region) {
        const std::string scope = graph.scope;
        for (std::size_t i = region.first; i < region.end; ++i) {
            const Node node = graph.nodes()[i];  // a copy: appending moves the list
            for (std::size_t k = 0; k < node.out.size(); ++k)
                require(!node.op->updates(k), node.scope, ": ", node.op->name(),
                        " changes a state: not to be recomputed");
            graph.scope = node.scope;
            const std::vector<Tensor> out = graph.add(node.op, renamed(node.in));
            for (std::size_t k = 0; k < out.size(); ++k) again_[node.out[k].id()] = out[k];
        }
        graph.scope = scope;
    }

    bool holds(std::size_t node) const { return node >= region_.first && node < region_.end; }
    Node renamed(const Node& node) const { return {node.op, renamed(node.in), renamed(node.out), node.scope}; }

private:
    std::vector<Tensor> renamed(std::vector<Tensor> tensors) const {
        for (Tensor& tensor : tensors)
            if (const auto found = tensor ? again_.find(tensor.id()) : again_.end(); found != again_.end())
                tensor = found->second;
        return tensors;
    }

    Region region_;
    std::map<std::uint32_t, Tensor> again_;  // by the original value
};

/// One reverse walk over the nodes that exist from `first` on when it begins; it does not visit nodes that it appends.
class Reverse {
public:
    Reverse(Graph& graph, std::size_t first, std::span<const Tensor> wrt, const GradientOptions& options = {})
        : graph_(graph), first_(first), end_(graph.nodes().size()) {
        if (options.recompute) regions_ = graph.regions();
        for (const Tensor& tensor : wrt)
            if (tensor) depends_.insert(tensor.id());
        const std::vector<Node>& nodes = graph.nodes();
        for (std::size_t i = first; i < nodes.size(); ++i) {
            if (std::any_of(nodes[i].in.begin(), nodes[i].in.end(), [&](const Tensor& in) { return wanted(in); }))
                for (const Tensor& out : nodes[i].out) depends_.insert(out.id());
        }
    }

    void seed(Tensor output, Tensor d_output) { accumulate(output, d_output); }

    void walk() {
        const std::string scope = graph_.scope;
        for (std::size_t i = end_; i-- > first_;) {
            const Node node = graph_.nodes()[i];  // a copy: appending moves the list
            std::vector<Tensor> d_out;
            bool reached = false;
            for (const Tensor& out : node.out) {
                d_out.push_back(depends_.contains(out.id()) ? gradient(out) : Tensor());
                reached = reached || d_out.back();
            }
            if (!reached) continue;
            const std::optional<Replay>& again = replay_of(i);
            graph_.scope = node.scope;
            const std::vector<Tensor> d_in = differentiate(node, again ? again->renamed(node) : node, d_out);
            for (std::size_t k = 0; k < node.in.size(); ++k)
                if (wanted(node.in[k]) && d_in[k]) accumulate(node.in[k], d_in[k]);
        }
        graph_.scope = scope;
    }

    Tensor gradient(Tensor tensor) const {
        const auto found = tensor ? gradient_.find(tensor.id()) : gradient_.end();
        return found != gradient_.end() ? found->second : Tensor();
    }

private:
    bool wanted(Tensor tensor) const {
        return tensor && tensor.dtype() == DType::f32 && depends_.contains(tensor.id());
    }

    /// Replay of the region that contains the node, made when the walk reaches the region; nullopt outside of regions.
    const std::optional<Replay>& replay_of(std::size_t node) {
        if (replay_ && !replay_->holds(node)) replay_.reset();
        while (!regions_.empty() && regions_.back().first > node) regions_.pop_back();
        if (!replay_ && !regions_.empty() && node < regions_.back().end) replay_.emplace(graph_, regions_.back());
        return replay_;
    }

    /// Gradients of the inputs of `original`, from the values of `node`, which is `original` or its replay.
    std::vector<Tensor> differentiate(const Node& original, const Node& node, const std::vector<Tensor>& d_out) {
        Vjp at{node.in, node.out, d_out, {}};
        for (const Tensor& in : original.in) at.wanted.push_back(wanted(in));
        if (auto d_in = node.op->vjp(at)) {
            require(d_in->size() == node.in.size(), node.op->name(), " has ", node.in.size(), " inputs, its vjp gave ",
                    d_in->size(), " gradients");
            return *d_in;
        }
        const std::size_t first = graph_.nodes().size();
        const std::vector<Tensor> plain = node.op->expand(node.in);
        require(!plain.empty(), node.scope, node.scope.empty() ? "" : ": ", node.op->name(), " has no derivative");
        std::vector<Tensor> wrt;  // an input given twice has one gradient, counted once
        for (std::size_t k = 0; k < node.in.size(); ++k) {
            const bool again = std::find(wrt.begin(), wrt.end(), node.in[k]) != wrt.end();
            wrt.push_back(at.wanted[k] && !again ? node.in[k] : Tensor());
        }
        Reverse inner(graph_, first, wrt);
        for (std::size_t k = 0; k < plain.size(); ++k)
            if (d_out[k]) inner.seed(plain[k], d_out[k]);
        inner.walk();
        std::vector<Tensor> d_in;
        for (const Tensor& in : wrt) d_in.push_back(inner.gradient(in));
        return d_in;
    }

    void accumulate(Tensor tensor, Tensor d) {
        require(d.shape() == tensor.shape(), graph_.scope, ": gradient of ", tensor.shape(), " has shape ", d.shape());
        Tensor& sum = gradient_[tensor.id()];
        sum = sum ? add(sum, d) : d;
    }

    Graph& graph_;
    std::size_t first_, end_;
    std::vector<Region> regions_;                         // to be recomputed, without those that the walk has passed
    std::optional<Replay> replay_;                        // of the region that the walk is in
    std::unordered_set<std::uint32_t> depends_;           // values through which a wanted gradient flows
    std::unordered_map<std::uint32_t, Tensor> gradient_;  // by value
};

}  // namespace

std::vector<Tensor> gradients(std::span<const Tensor> outputs, std::span<const Tensor> d_outputs,
                              std::span<const Tensor> wrt, const GradientOptions& options) {
    require(!outputs.empty() && outputs.size() == d_outputs.size(), "gradients: ", outputs.size(), " outputs and ",
            d_outputs.size(), " gradients of them");
    for (const Tensor& x : wrt)
        if (x && x.graph().storage(x).role == Role::constant)
            throw InputError("gradients: a constant ", x.type(), " has none");
    outputs[0].graph().differentiated = true;
    Reverse reverse(outputs[0].graph(), 0, wrt, options);
    for (std::size_t i = 0; i < outputs.size(); ++i) reverse.seed(outputs[i], d_outputs[i]);
    reverse.walk();
    std::vector<Tensor> result;
    for (const Tensor& tensor : wrt) result.push_back(reverse.gradient(tensor));
    return result;
}

std::vector<Tensor> gradients(Tensor loss, std::span<const Tensor> wrt, const GradientOptions& options) {
    require(loss.elements() == 1, "gradients: the loss has shape ", loss.shape(), ", wanted a scalar");
    const Tensor one = fill(loss.graph(), loss.shape(), 1.0f);
    return gradients(std::span(&loss, 1), std::span(&one, 1), wrt, options);
}

}  // namespace vkf
