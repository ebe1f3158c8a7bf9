// Where a layer stands in its model: the path that names its parameters and the graph it adds nodes to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

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
    Tensor tensor;  // its value in the graph that asked for it last
};

/// A model's parameters in the order its layers ask for them.
class Parameters {
public:
    Parameters() = default;
    /// Those whose values are the states "PREFIX/NAME".
    explicit Parameters(const std::string& prefix) : prefix_(prefix + "/") {}

    /// Gets or creates. Throws InputError if the name is known with another shape.
    Tensor get(Graph& graph, const std::string& name, const Shape& shape, Init init);

    const std::vector<Parameter>& list() const { return list_; }
    std::int64_t count() const;  // numbers in all of them

private:
    std::string prefix_;
    std::vector<Parameter> list_;
};

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

    Tensor parameter(std::string_view name, const Shape& shape, Init init) const;
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
    Graph* graph_;
    Parameters* parameters_;
    DropoutState dropout_state_;
    Tensor d_loss_;
    std::int64_t layer_ = 0;
    std::string path_;
};

}  // namespace vkf
