// Place of a layer in its model: the path that names its parameters, and the graph to which it adds nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "models/adapters/lora.h"

namespace vkf {

/// Initial values of a parameter: one value, or draws from N(0, value²) or U(−value, value). Of constant ones, the
/// elements `first_one` … `end_of_ones` − 1 are 1 instead.
struct Init {
    enum class Kind : std::uint8_t { constant, normal, uniform } kind = Kind::constant;
    float value = 0.0f;
    std::int64_t first_one = 0, end_of_ones = 0;

    static Init constant(float value) { return {.value = value}; }
    static Init zeros() { return constant(0.0f); }
    static Init ones() { return constant(1.0f); }
    static Init normal(float deviation) { return {.kind = Kind::normal, .value = deviation}; }
    static Init uniform(float bound) { return {.kind = Kind::uniform, .value = bound}; }
    static Init zeros_with_ones(std::int64_t first, std::int64_t end) {
        return {.first_one = first, .end_of_ones = end};
    }
};

struct Parameter {
    std::string name;
    Shape shape;
    Init init;
    Tensor tensor;        // its value in the graph that last asked for it
    bool frozen = false;  // not changed by training
};

/// A linear map: a product with the parameter PATH.weight.
struct LinearMap {
    std::string path;
    bool out_in = true;     // the weight is stored [out, in], not [in, out]
    bool as_stored = true;  // the weight is multiplied as stored, not rounded
};

/// A model's parameters in the order its layers ask for them.
class Parameters {
public:
    Parameters() = default;
    /// Parameters with values in the states "PREFIX/NAME"; states of frozen parameters have no prefix.
    explicit Parameters(const std::string& prefix) : prefix_(prefix + "/") {}

    /// Gets or creates a parameter. Throws InputError if the name is known with another shape.
    Tensor get(Graph& graph, const std::string& name, const Shape& shape, Init init, bool frozen = false);

    const std::vector<Parameter>& list() const { return list_; }
    /// Parameters that training changes, and the others.
    std::vector<Parameter> trained() const;
    std::vector<Parameter> frozen() const;
    std::int64_t count() const;  // elements of all parameters

    /// Linear maps of the model, with weights among the parameters.
    const std::vector<LinearMap>& linear_maps() const { return linear_maps_; }
    void add_linear_map(LinearMap map);

private:
    std::string prefix_;
    std::vector<Parameter> list_;
    std::map<std::string, std::size_t> places_;  // indices in list_, by name
    std::vector<LinearMap> linear_maps_;
};

/// Elements of all parameters.
std::int64_t count(std::span<const Parameter> parameters);

/// Starting values of a parameter, drawn from (seed, name) alone: independent of order, device and precision.
std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed);

/// Randomness of training: the rates of dropout and of stochastic depth, and the step's seed (i32[2]), not needed if
/// both rates are 0. With a ramp, the rate of stochastic depth grows evenly from 0 in the first block to `drop_path` in
/// the last.
struct DropoutState {
    float dropout = 0.0f;
    float drop_path = 0.0f;
    Tensor seed = {};
    bool drop_path_ramp = false;

    bool any() const { return dropout > 0.0f || drop_path > 0.0f; }
};

/// Tensor of a layer that somebody watches.
struct Tapped {
    std::string name;
    std::string path;  // of the layer
    Tensor tensor;

    /// Name as an output of the graph: "tap.h.0.attn.residual".
    std::string output() const { return "tap." + path + "." + name; }
};

/// Tensors to watch beside a graph's results. A layer makes a tensor for taps only if they have its name.
struct Taps {
    std::vector<std::string> names;
    std::int64_t positions = 0;      // watch only the first rows of the batch, of so many positions in all; 0: all rows
    std::vector<Tapped> found = {};  // in the order of the layers

    bool watch(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }
};

/// A path in a model under construction. Copied freely; the graph and the parameters belong to the caller.
class Scope {
public:
    Scope(Graph& graph, Parameters& parameters, DropoutState dropout_state = {}, Tensor d_loss = {})
        : graph_(&graph), parameters_(&parameters), dropout_state_(dropout_state), d_loss_(d_loss) {}

    /// Scope of a part; nodes added after the call belong to it.
    Scope operator/(std::string_view part) const;
    Scope operator/(std::int64_t index) const { return *this / std::to_string(index); }
    /// Scope of block `index` of `count`, with the block's rate of stochastic depth.
    Scope block(std::int64_t index, std::int64_t count) const;
    /// Scope of the whole model, for parameters that several layers share.
    Scope root() const;
    /// Number of the block that contains the scope, from 0.
    std::int64_t layer() const { return layer_; }

    /// Parameter of this scope; frozen if the model has adapters.
    Tensor parameter(std::string_view name, const Shape& shape, Init init) const;
    /// Parameter of this scope that training never changes.
    Tensor frozen_parameter(std::string_view name, const Shape& shape, Init init) const;
    /// Weight of the linear map of this scope.
    Tensor linear_weight(const Shape& shape, Init init, bool out_in, bool as_stored) const;

    /// Scope of a model with these adapters, null for none; they must outlive the scope.
    Scope with_adapters(const LoraConfig* adapters) const;
    /// Adapter of the linear map of this scope; null for none.
    const LoraConfig* adapter() const;
    /// Parameter of the adapter.
    Tensor adapter_parameter(std::string_view name, const Shape& shape, Init init) const;

    /// Scope of a model whose tensors are watched; null for none. The taps must outlive the scope.
    Scope with_taps(Taps* taps) const;
    const Taps* taps() const { return taps_; }
    /// Makes a tensor and adds it to the taps, if they watch tensors of this name.
    void tap(std::string_view name, const std::function<Tensor()>& make) const;

    /// Applies dropout at the model's rate; returns x itself if the rate is 0.
    Tensor drop(Tensor x) const;
    /// Factors of stochastic depth, [B, 1, ..., 1], one per sample of a branch [B, ...]: 1 / (1 − rate), or 0 if the
    /// branch is left out. No tensor at rate 0.
    Tensor drop_path(const Shape& branch) const;
    const DropoutState& dropout_state() const { return dropout_state_; }
    /// Gradient of the loss, [], if it is not 1: for ops that compute gradients together with the loss.
    Tensor d_loss() const { return d_loss_; }
    /// Number that distinguishes the random draws of this scope from those of other scopes.
    std::uint32_t salt() const;

    Graph& graph() const { return *graph_; }
    const std::string& path() const { return path_; }

private:
    Tensor get(std::string_view name, const Shape& shape, Init init, bool frozen) const;

    Graph* graph_;
    Parameters* parameters_;
    const LoraConfig* adapters_ = nullptr;
    Taps* taps_ = nullptr;
    DropoutState dropout_state_;
    Tensor d_loss_;
    std::int64_t layer_ = 0;
    std::string path_;
};

}  // namespace vkf
