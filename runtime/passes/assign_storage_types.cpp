#include "passes/assign_storage_types.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "ops/elementwise/cast.h"

namespace vkf {

namespace {

bool has(std::uint32_t mask, std::size_t k) {
    return k < 32 && (mask >> k & 1) != 0;
}

/// True if rows of the value begin and end between words that hold two elements each.
bool in_pairs(const Value& value) {
    const bool rows_even = value.type.shape.rows() <= 1 || value.pitch % 2 == 0;
    return value.type.shape.width() % 2 == 0 && value.offset % 2 == 0 && rows_even;
}

/// A node in a message.
struct Called {
    const Node& node;
};

std::ostream& operator<<(std::ostream& stream, const Called& at) {
    return stream << at.node.scope << (at.node.scope.empty() ? "" : ": ") << at.node.op->name();
}

/// A live node and the capabilities of its kernels.
struct Kernels {
    std::size_t node;
    KernelTraits traits;
    bool half;  // for uniform ones: all operands are in 16 bits

    bool reads_half(std::size_t input) const { return has(traits.half_in, input) && (!traits.uniform || half); }
    bool writes_half(std::size_t output) const { return has(traits.half_out, output) && (!traits.uniform || half); }
};

/// Storages that can be kept in 16 bits. All are assumed to be at first, and refused for one reason after the other
/// until no reason is left; storages that depend on others being in 16 bits are therefore judged again in every sweep.
class Assignment {
public:
    explicit Assignment(const Graph& graph) : graph_(graph), state_(graph.storages().size()) {
        const LiveNodes live = live_nodes(graph);
        std::vector<bool> is_read(graph.storages().size());
        for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
            const Node& node = graph.nodes()[i];
            if (!live[i] || node.is_view()) continue;
            kernels.push_back({i, node.op->kernel_traits(node.in), true});
            for (const Tensor& in : node.in)
                if (in) is_read[storage(in)] = true;
            for (std::size_t k = 0; k < node.out.size(); ++k)
                if (has(kernels.back().traits.read_back, k)) is_read[storage(node.out[k])] = true;
        }
        for (std::size_t s = 0; s < state_.size(); ++s) {
            const Storage& at = graph.storages()[s];
            if (at.role == Role::state && at.format != Format::f32)
                state_[s].given = true;
            else if (at.role != Role::transient || at.type.dtype != DType::f32 || at.type.shape.elements() == 0)
                state_[s].possible = false;
            else if (!is_read[s])
                refuse(s, "no kernel reads it");
        }
        for (const Value& value : graph.values())
            if (!in_pairs(value)) refuse(value.storage, "rows of ", value.type.shape, " do not fall into pairs");
        while (std::exchange(changed_, false)) sweep();
    }

    bool possible(std::size_t s) const { return state_[s].possible; }
    const std::string& why_not(std::size_t s) const { return state_[s].why_not; }

    std::vector<Kernels> kernels;  // in order

private:
    struct StorageState {
        bool possible = true;
        bool given = false;  // a state in 16 bits, whatever reads it
        std::string why_not;
        bool wanted = false;       // a node of lower precision computes with it in 16 bits
        bool only_rounded = true;  // by all its readers
    };

    std::size_t storage(Tensor tensor) const { return graph_.value(tensor).storage; }

    template <class... Words>
    void refuse(std::size_t s, const Words&... why) {
        if (!state_[s].possible || state_[s].given) return;
        state_[s].possible = false;
        state_[s].why_not = text(why...);
        changed_ = true;
    }

    void sweep() {
        for (StorageState& at : state_) at.wanted = false, at.only_rounded = true;
        for (const Kernels& at : kernels) mark_wanted(at);
        for (const Kernels& at : kernels) mark_others(at);
        for (Kernels& at : kernels) {
            if (at.traits.uniform && at.half && !can_be_half(at)) at.half = false, changed_ = true;
            refuse_operands(at);
        }
    }

    void mark_wanted(const Kernels& at) {
        if (!at.traits.lower_precision || !at.half) return;
        const Node& node = graph_.nodes()[at.node];
        for (std::size_t k = 0; k < node.in.size(); ++k)
            if (node.in[k] && at.reads_half(k)) state_[storage(node.in[k])].wanted = true;
        for (std::size_t k = 0; k < node.out.size(); ++k)
            if (at.writes_half(k)) state_[storage(node.out[k])].wanted = true;
    }

    /// Marks storages that some node would not round if it read them in fp32.
    void mark_others(const Kernels& at) {
        const Node& node = graph_.nodes()[at.node];
        const bool rounds = at.traits.uniform && at.half && (at.traits.lower_precision || makes_wanted(at));
        for (std::size_t k = 0; k < node.in.size(); ++k)
            if (node.in[k] && !(rounds && at.reads_half(k))) state_[storage(node.in[k])].only_rounded = false;
    }

    bool makes_wanted(const Kernels& at) const {
        const std::vector<Tensor>& out = graph_.nodes()[at.node].out;
        return std::ranges::any_of(out, [&](Tensor made) { return state_[storage(made)].wanted; });
    }

    /// True if a node whose operands share one format can have them all in 16 bits, and should.
    bool can_be_half(const Kernels& at) const {
        const Node& node = graph_.nodes()[at.node];
        std::int64_t all = 0, kept = 0;
        for (std::size_t k = 0; k < node.in.size(); ++k) {
            const Tensor x = node.in[k];
            if (!x || !has(at.traits.half_in, k)) continue;
            // A state would be cast again in every run.
            const bool anew = graph_.storage(x).role == Role::state && !state_[storage(x)].given;
            if (!in_pairs(graph_.value(x)) || anew) return false;
            all += x.elements();
            if (possible(storage(x))) kept += x.elements();
        }
        for (std::size_t k = 0; k < node.out.size(); ++k)
            if (has(at.traits.half_out, k) && !possible(storage(node.out[k]))) return false;
        return kept == all || (at.traits.lower_precision ? 2 * kept > all : makes_wanted(at));
    }

    /// Refuses operands that the node cannot read or write in 16 bits, and sums of terms that are kept in 32 bits.
    void refuse_operands(const Kernels& at) {
        const Node& node = graph_.nodes()[at.node];
        const Tensor* wide = nullptr;
        for (std::size_t k = 0; k < node.in.size(); ++k) {
            if (!node.in[k]) continue;
            const std::size_t s = storage(node.in[k]);
            if (!at.reads_half(k) && !state_[s].wanted) refuse(s, Called{node}, " reads it in fp32");
            if (!wide && has(at.traits.widening, k) && !possible(s)) wide = &node.in[k];
        }
        for (std::size_t k = 0; k < node.out.size(); ++k) {
            const std::size_t s = storage(node.out[k]);
            if (!at.writes_half(k))
                refuse(s, Called{node}, " makes it in fp32");
            else if (wide && !state_[s].only_rounded)
                refuse(s, Called{node}, " makes it from fp32 ", wide->shape());
        }
    }

    const Graph& graph_;
    std::vector<StorageState> state_;
    bool changed_ = true;
};

/// Inserts casts between values kept in one format and nodes that take the other.
class Boundaries {
public:
    Boundaries(Graph& graph, const Assignment& assignment) : graph_(graph) {
        auto at = assignment.kernels.begin();
        graph.rewrite([&](std::size_t i, Node node) {
            if (at != assignment.kernels.end() && at->node == i) cast_inputs(node, *at++);
            return node;
        });
        graph.scope = "outputs";
        for (std::size_t k = 0; k < graph.outputs().size(); ++k)
            if (const Tensor x = graph.outputs()[k].tensor; x.format() != Format::f32)
                graph.replace_output(k, appended(x, Format::f32));
    }

private:
    void cast_inputs(Node& node, const Kernels& at) {
        graph_.scope = node.scope;
        for (std::size_t k = 0; k < node.in.size(); ++k) {
            const Tensor x = node.in[k];
            if (!x || x.dtype() != DType::f32) continue;
            const bool rounds = at.reads_half(k) && (at.traits.uniform || is_factor(at, k, x));
            const bool is_half = x.format() != Format::f32;
            if (is_half ? at.reads_half(k) : !rounds) continue;
            node.in[k] = rounds ? rounded(x) : appended(x, Format::f32);
        }
    }

    /// True if the input is a factor that a product should have in 16 bits, and can have. Inputs are read as the host
    /// writes them, and states may have been overwritten before the graph ends.
    bool is_factor(const Kernels& at, std::size_t input, Tensor x) const {
        return graph_.half_factors && has(at.traits.gemm_operands, input) && in_pairs(graph_.value(x)) &&
               x.contiguous() && graph_.storage(x).role == Role::transient;
    }

    /// Makes one 16-bit copy for all nodes that want one. A shared fp32 copy would occupy much memory for a long time.
    Tensor rounded(Tensor x) {
        Tensor& copy = rounded_[x.id()];
        if (!copy) copy = appended(x, graph_.activations);
        return copy;
    }

    Tensor appended(Tensor x, Format format) {
        const std::size_t first = graph_.nodes().size();
        const Tensor copy = cast(x);
        for (std::size_t i = first; i < graph_.nodes().size(); ++i) {
            const Tensor made = graph_.nodes()[i].out[0];  // a slice is first made contiguous, in its own format
            graph_.set_format(graph_.value(made).storage, made == copy ? format : x.format());
        }
        return copy;
    }

    Graph& graph_;
    std::map<std::uint32_t, Tensor> rounded_;  // by the value that is copied
};

}  // namespace

void assign_storage_types(Graph& graph) {
    if (graph.activations == Format::f32) return;
    const Assignment assignment(graph);
    for (std::size_t s = 0; s < graph.storages().size(); ++s)
        if (assignment.possible(s))
            graph.set_format(s, graph.activations);
        else if (!assignment.why_not(s).empty())
            graph.keep_f32(s, assignment.why_not(s));
    Boundaries(graph, assignment);
}

}  // namespace vkf
