// Autotuning: several kernels for one computation are tried on the device to find which are right and which is fastest.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// Elements of a result: their indices, their values in double, and the errors that a right kernel may make.
struct Expected {
    std::vector<std::size_t> at;
    std::vector<double> values, bounds;
};

/// Describes the first expected element that `y` misses; empty if there is none. NaN misses.
std::string mismatch(const Expected& expected, std::span<const float> y);

/// Inputs of a trial and its expected result.
struct TuningOperands {
    std::map<std::string, std::vector<float>> inputs;
    Expected expected;  // elements of y
};

/// One computation alone in a graph, at one size.
struct TuningCase {
    Graph graph;                               // output "y"; the nodes of `op` are tried
    std::string op;                            // the op's name
    std::function<TuningOperands()> operands;  // takes up to seconds: results are computed in double
};

/// One kind of computation and the kernels that may compute it.
struct TuningProblem {
    std::string kind;    // everything that decides which kernel is fastest; sizes only roughly
    std::string family;  // its op, direction and elements: a kernel that is wrong for one size is wrong for all
    /// "IMPLEMENTATION" or "IMPLEMENTATION DETAIL"; the first is what a model of the device prefers.
    std::vector<std::string> candidates;
    /// Makes the correctness case, of a small size that no tile divides, with operands that have to be rounded; or the
    /// timing case, of about the problem's own size, with operands whose result is checked without computing all of it
    /// in double.
    std::function<std::unique_ptr<TuningCase>()> correctness_case, timing_case;
    std::string correctness = {};  // names the correctness case, if several problems share it
};

/// Solves tuning problems for one device.
class Autotuner {
public:
    virtual ~Autotuner() = default;
    /// Called before a graph whose passes have run is lowered: an autotuner that tries kernels out may solve all
    /// problems of the graph together.
    virtual void prepare(const DeviceTraits&, const Graph&) {}
    /// Index of the chosen candidate. `device` is the one that the ops are lowered for.
    virtual std::size_t choose(const DeviceTraits& device, const TuningProblem& problem) = 0;
};

/// Problems that the nodes of a graph, whose passes have run, pose to an autotuner when they are lowered for the
/// device; each kind once.
std::vector<TuningProblem> tuning_problems(const Graph& graph, const DeviceTraits& device);

}  // namespace vkf
