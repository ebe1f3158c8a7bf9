// Where a layer stands in its model: the path that names its parameters and the graph it adds nodes to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// How a parameter begins.
struct Init {
    enum class Kind : std::uint8_t { zeros, ones, normal } kind = Kind::zeros;
    float deviation = 0.0f;

    static Init zeros() { return {}; }
    static Init ones() { return {Kind::ones, 0.0f}; }
    static Init normal(float deviation) { return {Kind::normal, deviation}; }
};

struct Parameter {
    std::string name;
    Shape shape;
    Init init;
    Tensor tensor;  // its value in the graph it was asked for in
};

/// A model's parameters in the order its layers ask for them.
class Parameters {
public:
    /// Gets or creates. Throws InputError if the name is known with another shape.
    Tensor get(Graph& graph, const std::string& name, const Shape& shape, Init init);

    const std::vector<Parameter>& list() const { return list_; }
    std::int64_t count() const;  // numbers in all of them

private:
    std::vector<Parameter> list_;
};

/// Starting values of a parameter, drawn from (seed, name) alone: independent of order, device and precision.
std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed);

/// Randomness of training: the dropout rate and the step's seed (i32[2]). A rate of 0 needs no seed.
struct Noise {
    float dropout = 0.0f;
    Tensor seed = {};
};

/// A path in a model under construction. Copied freely; the graph and the parameters belong to the caller.
class Scope {
public:
    Scope(Graph& graph, Parameters& parameters, Noise noise = {})
        : graph_(&graph), parameters_(&parameters), noise_(noise) {}

    /// The scope of a part; nodes added from here on are filed under it.
    Scope operator/(std::string_view part) const;
    Scope operator/(std::int64_t index) const { return *this / std::to_string(index); }

    Tensor parameter(std::string_view name, const Shape& shape, Init init) const;
    /// Dropout at this place, at the model's rate; x itself when there is none.
    Tensor drop(Tensor x) const;
    bool drops() const { return noise_.dropout > 0.0f; }
    const Noise& noise() const { return noise_; }
    /// A number that tells this place's random draws from every other's.
    std::uint32_t salt() const;

    Graph& graph() const { return *graph_; }
    const std::string& path() const { return path_; }

private:
    Graph* graph_;
    Parameters* parameters_;
    Noise noise_;
    std::string path_;
};

}  // namespace vkf
