// A computation as data: nodes in execution order, the values they produce and the storages that hold the values.
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

/// Owner of a storage: the arena (transient), the host, which writes it before each run (input), the model (state), or
/// the graph, which knows its values (constant).
enum class Role : std::uint8_t { transient, input, state, constant };

/// A run of memory that holds one value, or a value with its views and in-place successors.
struct Storage {
    TensorType type;
    Role role = Role::transient;
    std::string name;           // name of an input or a state
    std::uint32_t version = 0;  // in-place updates so far
    Format format = Format::f32;
    std::string why_f32 = {};  // reason why a transient f32 storage is not kept in 16 bits
    std::shared_ptr<const std::vector<std::byte>> values = {};  // a constant's values, as stored in memory

    std::int64_t bytes() const { return bytes_of(type.shape.elements(), format); }
};

struct Value {
    TensorType type;
    std::uint32_t storage = 0;
    std::uint32_t version = 0;  // version of the storage that the value stands for
    std::int64_t offset = 0;    // elements from the storage's start
    std::int64_t pitch = 0;     // elements between rows
};

struct Node {
    std::shared_ptr<const Op> op;
    std::vector<Tensor> in;  // may hold absent tensors
    std::vector<Tensor> out;
    std::string scope;  // model part that added the node, for messages and profiles

    bool is_view() const { return !in.empty() && in[0] && op->view(in, 0).has_value(); }
};

struct NamedTensor {
    std::string name;
    Tensor tensor;
};

/// Nodes [first, end) that a model marks as one part, such as a transformer's block.
struct Region {
    std::size_t first = 0, end = 0;
};

/// Nodes run in the order in which they were added. A graph cannot be moved, because handles point into it.
class Graph {
public:
    Graph() = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    /// A tensor the host writes before each run. Names are unique.
    Tensor input(std::string name, TensorType type);
    /// A tensor that outlives runs and is shared by name between graphs. A second call with the same name returns its
    /// current value. A 16-bit format needs f32 rows of even width, and kernels that take the format.
    Tensor state(std::string name, TensorType type, Format format = Format::f32);
    /// A tensor whose values, row-major, are known now. It is never written; programs over one State share one copy of
    /// equal values. A second call with the same shape and values returns the same tensor. It has no gradient.
    Tensor constant(Shape shape, std::span<const float> values);
    Tensor constant(Shape shape, std::span<const std::int32_t> values);
    /// Marks a tensor that the host reads after a run. It must be contiguous.
    void output(std::string name, Tensor tensor);
    /// Lets the host read and change tensors in the middle of a run (program/hook.h): after all of them are made and
    /// before any node reads them. They must be contiguous and fp32, and no node added so far may read them. A graph
    /// has one hook.
    void hook(std::vector<Tensor> tensors);

    /// Appends a node. Throws InputError, naming op and scope, if shapes do not fit or an input has been overwritten.
    std::vector<Tensor> add(std::shared_ptr<const Op> op, std::vector<Tensor> in);

    /// Marks the nodes from `first` on as a region. Regions do not overlap.
    void mark_region(std::size_t first);

    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Region>& regions() const { return regions_; }
    const std::deque<Value>& values() const { return values_; }
    const std::vector<Storage>& storages() const { return storages_; }
    const std::vector<NamedTensor>& outputs() const { return outputs_; }
    const std::vector<Tensor>& hooked() const { return hooked_; }
    /// Number of nodes before the hook.
    std::size_t nodes_before_hook() const;
    const Value& value(Tensor t) const { return values_[t.id()]; }
    const Storage& storage(Tensor t) const { return storages_[value(t).storage]; }
    /// The tensor of an input or output by name; throws if there is none.
    Tensor input_named(std::string_view name) const;
    Tensor output_named(std::string_view name) const;

    /// Replaces every node by what `by` returns, or by nothing: passes change a graph this way, in time proportional to
    /// its nodes. `by` gets the nodes in order, each with its number. Nodes that it adds to the graph meanwhile are
    /// placed before the node, and before a region that the node begins; nodes() returns the nodes placed so far.
    /// Inputs of a node must be made before it, and every value that is still read must be an output of a node.
    void rewrite(const std::function<std::optional<Node>(std::size_t i, Node node)>& by);
    /// Replaces output `k` by another tensor of the same type.
    void replace_output(std::size_t k, Tensor by) { outputs_[k].tensor = by; }
    /// Turns a transient value into a slice of another one.
    void make_slice(Tensor part, Tensor whole, const View& place);
    /// Moves all values of a transient storage, given by their numbers, into another storage: the old storage begins at
    /// element `offset` of `flat`.
    void move_values(std::span<const std::uint32_t> all, Tensor flat, std::int64_t offset);
    /// Sets a storage's format, or notes the reason why a transient one stays in fp32.
    void set_format(std::size_t storage, Format format) { storages_[storage].format = format; }
    void keep_f32(std::size_t storage, std::string why) { storages_[storage].why_f32 = std::move(why); }

    /// Model part that the nodes added now belong to.
    std::string scope;
    /// Format of activations where kernels take it (passes/assign_storage_types.h), and true once gradients() has added
    /// derivatives: the allowed uses of a device's cooperative matrices depend on both.
    Format activations = Format::f32;
    bool differentiated = false;
    /// True if products read 16-bit copies of factors that are computed and kept in fp32. Of states, cast_weights()
    /// makes such copies.
    bool half_factors = false;
    /// True once run_passes() has prepared the graph for execution. No node can be added any more.
    bool passes_ran = false;

    /// One line per node: scope, op, inputs and outputs with shapes.
    std::string dump() const;

private:
    Tensor leaf(std::string name, TensorType type, Role role);
    Tensor constant(TensorType type, std::span<const std::byte> values);
    /// The input or state with that name, or null.
    NamedTensor* leaf_named(std::string_view name);

    std::vector<Node> nodes_;
    std::vector<Region> regions_;
    std::deque<Value> values_;  // references to shapes stay valid when values are added
    std::vector<Storage> storages_;
    std::vector<NamedTensor> leaves_;
    std::map<std::string, std::size_t, std::less<>> leaf_places_;  // index in leaves_ by name
    std::vector<Tensor> constants_;
    std::vector<NamedTensor> outputs_;
    std::vector<Tensor> hooked_;
};

/// Adds an op with one output.
template <class AnyOp>
Tensor add_one(Graph& graph, AnyOp op, std::vector<Tensor> in) {
    return graph.add(std::make_shared<const AnyOp>(std::move(op)), std::move(in)).front();
}

/// Nodes that contribute to an output or to a state, as only these are executed; and the storages that are read.
struct LiveNodes {
    std::vector<bool> nodes;     // by node
    std::vector<bool> are_read;  // by storage: read by a live node, as an output or by the hook

    bool operator[](std::size_t node) const { return nodes[node]; }
};
LiveNodes live_nodes(const Graph&);
/// Outputs of a node; no tensor for an optional output that no live node reads.
std::vector<Tensor> outputs_to_make(const Graph&, const LiveNodes& live, const Node&);

}  // namespace vkf
