#include "ops/backward.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "ops/ops.h"

namespace vkf {

namespace {

/// One reverse walk over the nodes from `first` on, as they stand when it begins; what it appends is not walked.
class Reverse {
public:
    Reverse(Graph& graph, std::size_t first, std::span<const Tensor> wrt)
        : graph_(graph), first_(first), end_(graph.nodes().size()) {
        depends_.assign(graph.values().size(), false);
        for (const Tensor& tensor : wrt)
            if (tensor) depends_[tensor.id()] = true;
        const std::vector<Node>& nodes = graph.nodes();
        for (std::size_t i = first; i < nodes.size(); ++i) {
            if (std::any_of(nodes[i].in.begin(), nodes[i].in.end(), [&](const Tensor& in) { return wanted(in); }))
                for (const Tensor& out : nodes[i].out) depends_[out.id()] = true;
        }
        gradient_.resize(graph.values().size());
    }

    void seed(Tensor output, Tensor d_output) { accumulate(output, d_output); }

    void walk() {
        const std::string scope = graph_.scope;
        for (std::size_t i = end_; i-- > first_;) {
            const Node node = graph_.nodes()[i];  // a copy: appending moves the list
            std::vector<Tensor> d_out;
            bool reached = false;
            for (const Tensor& out : node.out) {
                d_out.push_back(depends_[out.id()] ? gradient_[out.id()] : Tensor());
                reached = reached || d_out.back();
            }
            if (!reached) continue;
            graph_.scope = node.scope;
            const std::vector<Tensor> d_in = differentiate(node, d_out);
            for (std::size_t k = 0; k < node.in.size(); ++k)
                if (wanted(node.in[k]) && d_in[k]) accumulate(node.in[k], d_in[k]);
        }
        graph_.scope = scope;
    }

    Tensor gradient(Tensor tensor) const { return tensor ? gradient_[tensor.id()] : Tensor(); }

private:
    bool wanted(Tensor tensor) const {
        return tensor && tensor.dtype() == DType::f32 && tensor.id() < depends_.size() && depends_[tensor.id()];
    }

    std::vector<Tensor> differentiate(const Node& node, const std::vector<Tensor>& d_out) {
        Vjp at{node.in, node.out, d_out, {}};
        for (const Tensor& in : node.in) at.wanted.push_back(wanted(in));
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
    std::vector<bool> depends_;     // by value: whether a wanted gradient flows through it
    std::vector<Tensor> gradient_;  // by value
};

}  // namespace

std::vector<Tensor> gradients(std::span<const Tensor> outputs, std::span<const Tensor> d_outputs,
                              std::span<const Tensor> wrt) {
    require(!outputs.empty() && outputs.size() == d_outputs.size(), "gradients: ", outputs.size(), " outputs and ",
            d_outputs.size(), " gradients of them");
    Reverse reverse(outputs[0].graph(), 0, wrt);
    for (std::size_t i = 0; i < outputs.size(); ++i) reverse.seed(outputs[i], d_outputs[i]);
    reverse.walk();
    std::vector<Tensor> result;
    for (const Tensor& tensor : wrt) result.push_back(reverse.gradient(tensor));
    return result;
}

std::vector<Tensor> gradients(Tensor loss, std::span<const Tensor> wrt) {
    require(loss.elements() == 1, "gradients: the loss has shape ", loss.shape(), ", wanted a scalar");
    const Tensor one = fill(loss.graph(), loss.shape(), 1.0f);
    return gradients(std::span(&loss, 1), std::span(&one, 1), wrt);
}

}  // namespace vkf
