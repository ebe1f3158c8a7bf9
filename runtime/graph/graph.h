// A computation as a value: nodes in execution order, the values they produce and the storage those live in.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op.h"
#include "graph/tensor.h"

namespace vkf {

/// Who owns a storage: the arena (transient), the host writing it before each run (input), the model (state), or the
/// graph, which knows its values (constant).
enum class Role : std::uint8_t { transient, input, state, constant };

/// A run of memory that one value, or a value with its views and in-place successors, lives in.
struct Storage {
    TensorType type;
    Role role = Role::transient;
    std::string name;           // of inputs and states
    std::uint32_t version = 0;  // in-place updates so far
    Format format = Format::f32;
    std::string why_f32 = {};  // of a transient one that could have been kept in 16 bits but for this
    std::shared_ptr<const std::vector<std::byte>> values = {};  // of a constant, as they lie in memory

    std::int64_t bytes() const { return bytes_of(type.shape.elements(), format); }
};

struct Value {
    TensorType type;
    std::uint32_t storage = 0;
    std::uint32_t version = 0;  // the storage's version this value stands for
    std::int64_t offset = 0;    // elements from the storage's start
    std::int64_t pitch = 0;     // elements between rows
};

struct Node {
    std::shared_ptr<const Op> op;
    std::vector<Tensor> in;  // may hold absent tensors
    std::vector<Tensor> out;
    std::string scope;  // the model part that asked for it, for messages and profiles

    bool is_view() const { return !in.empty() && in[0] && op->view(in, 0).has_value(); }
};

struct NamedTensor {
    std::string name;
    Tensor tensor;
};

/// Nodes [first, end) that a model names as one part, such as a transformer's block.
struct Region {
    std::size_t first = 0, end = 0;
};

/// Nodes are executed in the order they were added. Handles point into the graph, so it does not move.
class Graph {
public:
    Graph() = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    /// A tensor the host writes before each run. Names are unique.
    Tensor input(std::string name, TensorType type);
    /// A tensor that outlives runs and is shared by name between graphs. Asking again for a name gives its current
    /// value. A 16-bit format wants f32 rows of even width, and kernels that take it so.
    Tensor state(std::string name, TensorType type, Format format = Format::f32);
    /// A tensor whose values, row-major, are known now. Nobody writes it; programs over one State share one copy of
    /// equal values. Asking again for the same gives the same tensor. It has no gradient.
    Tensor constant(Shape shape, std::span<const float> values);
    Tensor constant(Shape shape, std::span<const std::int32_t> values);
    /// Marks a tensor for reading by the host after a run. Must be contiguous.
    void output(std::string name, Tensor tensor);
    /// Lets the host look at tensors in the middle of a run and change them (program/hook.h): when all are made, and
    /// before anybody reads them. They are contiguous, fp32, and nobody has read them yet. One place in a graph.
    void hook(std::vector<Tensor> tensors);

    /// Appends a node. Throws InputError, naming op and scope, if shapes do not fit or an input was overwritten since.
    std::vector<Tensor> add(std::shared_ptr<const Op> op, std::vector<Tensor> in);

    /// Names the nodes from `first` on as a region. Regions do not overlap.
    void mark_region(std::size_t first);

    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Region>& regions() const { return regions_; }
    const std::deque<Value>& values() const { return values_; }
    const std::vector<Storage>& storages() const { return storages_; }
    const std::vector<NamedTensor>& outputs() const { return outputs_; }
    const std::vector<Tensor>& hooked() const { return hooked_; }
    /// How many of the nodes stand before the hook.
    std::size_t nodes_before_hook() const;
    const Value& value(Tensor t) const { return values_[t.id()]; }
    const Storage& storage(Tensor t) const { return storages_[value(t).storage]; }
    /// The tensor of an input or output by name; throws if there is none.
    Tensor input_named(std::string_view name) const;
    Tensor output_named(std::string_view name) const;

    /// Puts in place of every node what `by` makes of it, or nothing: how passes change a graph, in time proportional
    /// to its nodes. `by` gets the nodes in order, each with its number. What it adds to the graph meanwhile stands
    /// before the node, and before a region that the node begins; nodes() are those that have their places. Whatever a
    /// node reads is there before it, and every value that somebody still reads is an output of one.
    void rewrite(const std::function<std::optional<Node>(std::size_t i, Node node)>& by);
    /// Lets output `k` be another tensor of the same type.
    void replace_output(std::size_t k, Tensor by) { outputs_[k].tensor = by; }
    /// Makes a transient value a slice of another one.
    void make_slice(Tensor part, Tensor whole, const View& place);
    /// Lets all values of a transient storage, by their numbers, lie in another one, the storage's beginning at element
    /// `offset` of `flat`.
    void move_values(std::span<const std::uint32_t> all, Tensor flat, std::int64_t offset);
    /// Keeps a storage in another format, or a transient one in fp32 for a reason.
    void set_format(std::size_t storage, Format format) { storages_[storage].format = format; }
    void keep_f32(std::size_t storage, std::string why) { storages_[storage].why_f32 = std::move(why); }

    /// The model part that nodes are being added for.
    std::string scope;
    /// What activations are to be kept in where kernels take it (passes/assign_storage_types.h), and whether
    /// gradients() has added derivatives: what a device's cooperative matrices may be used for depends on both.
    Format activations = Format::f32;
    bool differentiated = false;
    /// Whether products read 16-bit copies of those of their factors that are computed and kept in fp32, as they do of
    /// states by cast_weights().
    bool half_factors = false;
    /// Whether run_passes() has made the graph what is executed. Nothing is added to it any more.
    bool passes_ran = false;

    /// One line per node: scope, op, inputs and outputs with shapes.
    std::string dump() const;

private:
    Tensor leaf(std::string name, TensorType type, Role role);
    Tensor constant(TensorType type, std::span<const std::byte> values);
    /// The input or state of that name, or null.
    NamedTensor* leaf_named(std::string_view name);

    std::vector<Node> nodes_;
    std::vector<Region> regions_;
    std::deque<Value> values_;  // references to shapes survive what is added later
    std::vector<Storage> storages_;
    std::vector<NamedTensor> leaves_;
    std::map<std::string, std::size_t, std::less<>> leaf_places_;  // in leaves_, by name
    std::vector<Tensor> constants_;
    std::vector<NamedTensor> outputs_;
    std::vector<Tensor> hooked_;
};

/// Adds an op with one output.
template <class AnyOp>
Tensor add_one(Graph& graph, AnyOp op, std::vector<Tensor> in) {
    return graph.add(std::make_shared<const AnyOp>(std::move(op)), std::move(in)).front();
}

/// Which nodes contribute to an output or to a state, as the rest is never executed; and what these read.
struct LiveNodes {
    std::vector<bool> nodes;     // by node
    std::vector<bool> are_read;  // by storage: by a live node, as an output or by the hook

    bool operator[](std::size_t node) const { return nodes[node]; }
};
LiveNodes live_nodes(const Graph&);
/// A node's outputs, but no tensor for those that are dispensable and that no live node reads.
std::vector<Tensor> outputs_to_make(const Graph&, const LiveNodes& live, const Node&);

}  // namespace vkf
