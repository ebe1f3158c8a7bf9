// Times a computation as the product runs it: as nodes of a graph, compiled by Program.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/bench.h"
#include "apps/inspect/analysis.h"
#include "graph/graph.h"
#include "program/program.h"

namespace vkf {

class Device;

/// Shortest time in which a device with these peaks, in fp32, can do the work, kernel by kernel.
double least_seconds(const Analysis& analysis, const Peak& peak);
/// "needs 3 GiB of memory, the device has 2 GiB"; empty if the device has enough.
std::string lacking_memory(const Device& device, const Analysis& analysis);

/// Leaves of a case's graph, in the same kinds of memory as a model's, and their contents.
class Operands {
public:
    explicit Operands(Graph& graph) : graph_(graph) {}

    /// Random numbers from [-1, 1), or zeros, in the device's own memory like parameters and gradients.
    Tensor numbers(const Shape& shape);
    Tensor zeros(const Shape& shape);
    /// Random numbers from [-1, 1) in the storage format of activations, as other kernels would write them.
    Tensor activations(const Shape& shape);
    /// Random integers below `end`, drawn for each element.
    Tensor indices(const Shape& shape, std::int64_t end);
    /// A few numbers that the host writes, such as an optimiser's rates.
    Tensor values(std::vector<float> values);

    Graph& graph() const { return graph_; }
    /// Fills all operands.
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

/// A computation at one size. `prepare` makes operands and everything else that must exist before the clock runs.
struct Case {
    std::string family, name, shape, layout;
    std::function<Repetition(Operands&)> prepare;
};

/// A graph of several repetitions of a case, and the nodes of each repetition. Its passes have run.
struct CaseGraph {
    Graph graph;
    Operands operands{graph};
    std::vector<std::size_t> begins, ends;  // first node of each repetition, and the node after its last

    CaseGraph(const Case& c, std::size_t repetitions, Format activations);

private:
    /// Adds an output that reads one element of the result. Nodes that no output needs are not run; reading one element
    /// is enough, and the rest of the memory can be reused.
    void keep(Tensor result);
};

/// Work and memory of one repetition.
Analysis analyse_case(const Device& device, const Case& c, Format activations);

struct TimingLimits {
    double seconds = 0.5;              // time for samples; at least one is taken
    std::optional<Peak> peak = {};     // if known, bounds a case's time from below
    double longest_repetition = 2.0;   // seconds; cases that must take longer are left out
    Format activations = Format::f32;  // storage format; operands and results stay fp32
};

/// Times a case by timestamps around every node, with a barrier before each; short cases are repeated several times in
/// one submission. The first run is not counted. Returns nothing, and sets `reason`, if the case is too large for the
/// device or the limits. Throws Interrupted after Ctrl-C, and Error if the device has no timestamps.
std::optional<Measurement> time_case(Device& device, const Case& c, const TimingLimits& limits, std::string& reason);

}  // namespace vkf
