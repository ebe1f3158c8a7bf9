// Timing a computation the way the product runs it: as nodes of a graph, compiled by Program.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/analysis.h"
#include "apps/bench.h"
#include "graph/graph.h"
#include "program/program.h"

namespace vkf {

class Device;

/// "needs 3 GiB of memory, the device has 2 GiB"; empty if it has enough.
std::string lacking_memory(const Device& device, const Analysis& analysis);

/// The leaves of a case's graph, in the memory where a model has them, and what they are filled with.
class Operands {
public:
    explicit Operands(Graph& graph) : graph_(graph) {}

    /// Numbers drawn from [-1, 1), and zeros; both in the device's own memory, as parameters and gradients are.
    Tensor numbers(const Shape& shape);
    Tensor zeros(const Shape& shape);
    /// Such numbers in what activations are kept in, as other kernels would have left them.
    Tensor activations(const Shape& shape);
    /// Whole numbers below `end`, drawn anew for each element.
    Tensor indices(const Shape& shape, std::int64_t end);
    /// A few numbers that the host writes, such as an optimiser's rates.
    Tensor values(std::vector<float> values);

    Graph& graph() const { return graph_; }
    /// Fills them all.
    void write(Program& program, State& state) const;

private:
    Graph& graph_;
    std::vector<std::string> drawn_;
    std::map<std::string, std::vector<std::int32_t>> indices_;
    std::map<std::string, std::vector<float>> values_;
    int made_ = 0;
};

/// Appends the timed nodes once; returns their results.
using Repetition = std::function<std::vector<Tensor>()>;

/// A computation at one size. `prepare` makes operands, and what else has to be there before the clock runs.
struct Case {
    std::string family, name, shape, layout;
    std::function<Repetition(Operands&)> prepare;
};

/// A graph of some repetitions of a case, and which of its nodes are whose. Its passes have run.
struct CaseGraph {
    Graph graph;
    Operands operands{graph};
    std::vector<std::size_t> begins, ends;  // nodes: the first of each repetition, and the one behind it

    CaseGraph(const Case& c, std::size_t repetitions, Format activations);

private:
    /// Nodes that nobody needs are not run. Looking at one element is enough, and lets the rest of the memory go.
    void keep(Tensor result);
};

struct TimingLimits {
    double seconds = 0.5;              // spent on samples, of which there is at least one
    std::optional<Peak> peak = {};     // where known, tells how long a case will take at least
    double longest_repetition = 2.0;   // seconds; what must take longer is left out
    Format activations = Format::f32;  // what they are kept in; operands and results stay fp32
};

/// Timestamps around every node, with a barrier before each; several repetitions follow each other in one submission if
/// they are short. The first run is not counted. Nothing, and why in `reason`, if the case is too large for device or
/// limits. Throws Interrupted after Ctrl-C, and Error if the device has no timestamps.
std::optional<Measurement> time_case(Device& device, const Case& c, const TimingLimits& limits, std::string& reason);

}  // namespace vkf
