// Several kernels for one computation: finding out on the device itself which are right, and which is fastest.
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

/// Elements of a result: which, what they are in double, and by how much a right kernel may miss them.
struct Expected {
    std::vector<std::size_t> at;
    std::vector<double> values, bounds;
};

/// The first of them that `y` misses, in words; empty: none. NaN misses.
std::string mismatch(const Expected& expected, std::span<const float> y);

/// What a computation is tried on, and what is to come out.
struct TuningOperands {
    std::map<std::string, std::vector<float>> inputs;
    Expected expected;  // of y
};

/// The computation on its own, at one size.
struct TuningCase {
    Graph graph;                               // output "y"; the nodes of one op are what is tried
    std::string op;                            // its name
    std::function<TuningOperands()> operands;  // takes up to seconds: what comes out is computed in double
};

/// One kind of computation and the kernels that may do it.
struct TuningProblem {
    std::string kind;    // all that decides which kernel is fastest; sizes only roughly
    std::string family;  // of it op, direction and elements: a kernel that is wrong for one size is so for all
    /// "IMPLEMENTATION" or "IMPLEMENTATION DETAIL"; the first is what a model of the device prefers.
    std::vector<std::string> candidates;
    /// Of a small size that divides nothing, with operands that have to be rounded; and of about the problem's own
    /// size, to be timed, with operands that are judged without computing all of it in double.
    std::function<std::unique_ptr<TuningCase>()> correctness_case, timing_case;
    std::string correctness = {};  // names the former, if other problems have the same one
};

/// Solves such problems for one device.
class Autotuner {
public:
    virtual ~Autotuner() = default;
    /// Is called before a graph, whose passes have run, is lowered: an autotuner that tries kernels out may solve all
    /// problems of the graph together.
    virtual void prepare(const DeviceTraits&, const Graph&) {}
    /// The place of the chosen one among the candidates. `device` is what the ops are lowered for.
    virtual std::size_t choose(const DeviceTraits& device, const TuningProblem& problem) = 0;
};

/// What the nodes of a graph, whose passes have run, would ask an autotuner when they are lowered for the device; each
/// kind once.
std::vector<TuningProblem> tuning_problems(const Graph& graph, const DeviceTraits& device);

}  // namespace vkf
