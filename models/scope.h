// Where a layer stands in its model: the path that names its parameters and the graph it adds nodes to.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "models/lora.h"

namespace vkf {

/// How a parameter begins: one value, or draws from N(0, value²) or U(−value, value).
struct Init {
    enum class Kind : std::uint8_t { constant, normal, uniform } kind = Kind::constant;
    float value = 0.0f;

    static Init constant(float value) { return {Kind::constant, value}; }
    static Init zeros() { return constant(0.0f); }
    static Init ones() { return constant(1.0f); }
    static Init normal(float deviation) { return {Kind::normal, deviation}; }
    static Init uniform(float bound) { return {Kind::uniform, bound}; }
};

struct Parameter {
    std::string name;
    Shape shape;
    Init init;
    Tensor tensor;        // its value in the graph that asked for it last
    bool frozen = false;  // training leaves it as it is
};

/// A linear map: a product with the parameter PATH.weight.
struct LinearMap {
    std::string path;
    bool out_in = true;     // the weight is stored [out, in], not [in, out]
    bool as_stored = true;  // and multiplied as it is stored, not rounded
};

/// A model's parameters in the order its layers ask for them.
class Parameters {
public:
    Parameters() = default;
    /// Those whose values are the states "PREFIX/NAME"; frozen ones go by their own names.
    explicit Parameters(const std::string& prefix) : prefix_(prefix + "/") {}

    /// Gets or creates. Throws InputError if the name is known with another shape.
    Tensor get(Graph& graph, const std::string& name, const Shape& shape, Init init, bool frozen = false);

    const std::vector<Parameter>& list() const { return list_; }
    /// Those that training moves, and the others.
    std::vector<Parameter> trained() const;
    std::vector<Parameter> frozen() const;
    std::int64_t count() const;  // numbers in all of them

    /// Which of them are linear maps' weights.
    const std::vector<LinearMap>& linear_maps() const { return linear_maps_; }
    void add_linear_map(LinearMap map);

private:
    std::string prefix_;
    std::vector<Parameter> list_;
    std::map<std::string, std::size_t> places_;  // in list_, by name
    std::vector<LinearMap> linear_maps_;
};

/// Numbers in all of these.
std::int64_t count(std::span<const Parameter> parameters);

/// Starting values of a parameter, drawn from (seed, name) alone: independent of order, device and precision.
std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed);

/// Randomness of training: the rates of dropout and of stochastic depth, and the step's seed (i32[2]), which rates of 0
/// do not need. With a ramp, the rate of stochastic depth grows evenly from 0 in the first block to `drop_path` in the
/// last.
struct DropoutState {
    float dropout = 0.0f;
    float drop_path = 0.0f;
    Tensor seed = {};
    bool drop_path_ramp = false;

    bool any() const { return dropout > 0.0f || drop_path > 0.0f; }
};

/// A path in a model under construction. Copied freely; the graph and the parameters belong to the caller.
class Scope {
public:
    Scope(Graph& graph, Parameters& parameters, DropoutState dropout_state = {}, Tensor d_loss = {})
        : graph_(&graph), parameters_(&parameters), dropout_state_(dropout_state), d_loss_(d_loss) {}

    /// The scope of a part; nodes added from here on are filed under it.
    Scope operator/(std::string_view part) const;
    Scope operator/(std::int64_t index) const { return *this / std::to_string(index); }
    /// The scope of block `index` of `count`, with the rate of stochastic depth there.
    Scope block(std::int64_t index, std::int64_t count) const;
    /// The number of the block that this stands in, from 0.
    std::int64_t layer() const { return layer_; }

    /// Frozen where the model has adapters.
    Tensor parameter(std::string_view name, const Shape& shape, Init init) const;
    /// The weight of the linear map that this place is.
    Tensor linear_weight(const Shape& shape, Init init, bool out_in, bool as_stored) const;

    /// The scope of a model that has these adapters, null for none; they must outlive it.
    Scope with_adapters(const LoraConfig* adapters) const;
    /// What adapter the linear map has that this place is; null for none.
    const LoraConfig* adapter() const;
    /// A parameter of that adapter.
    Tensor adapter_parameter(std::string_view name, const Shape& shape, Init init) const;

    /// Dropout at this place, at the model's rate; x itself when there is none.
    Tensor drop(Tensor x) const;
    /// Stochastic depth at this place: a factor for each sample of a branch [B, ...], 1 / (1 − rate) or, where the
    /// branch is left out, 0. [B, 1, ..., 1]; no tensor at rate 0.
    Tensor drop_path(const Shape& branch) const;
    const DropoutState& dropout_state() const { return dropout_state_; }
    /// The gradient, [], that the loss will have if not 1: for ops that make gradients along with the loss.
    Tensor d_loss() const { return d_loss_; }
    /// A number that tells this place's random draws from every other's.
    std::uint32_t salt() const;

    Graph& graph() const { return *graph_; }
    const std::string& path() const { return path_; }

private:
    Tensor get(std::string_view name, const Shape& shape, Init init, bool frozen) const;

    Graph* graph_;
    Parameters* parameters_;
    const LoraConfig* adapters_ = nullptr;
    DropoutState dropout_state_;
    Tensor d_loss_;
    std::int64_t layer_ = 0;
    std::string path_;
};

}  // namespace vkf
