#include "graph/autotuner.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/lower.h"

namespace vkf {

namespace {

/// Chooses the first candidate of each problem, and keeps the problem.
class Collector : public Autotuner {
public:
    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        const auto same = [&](const TuningProblem& other) {
            return other.kind == problem.kind && other.candidates == problem.candidates;
        };
        if (std::ranges::none_of(problems, same)) problems.push_back(problem);
        return 0;
    }

    std::vector<TuningProblem> problems;
};

}  // namespace

std::string mismatch(const Expected& expected, std::span<const float> y) {
    for (std::size_t i = 0; i < expected.at.size(); ++i) {
        const std::size_t at = expected.at[i];
        if (at >= y.size()) return text("there are ", y.size(), " elements, wanted more than ", at);
        const auto found = static_cast<double>(y[at]);
        if (std::abs(found - expected.values[i]) <= expected.bounds[i]) continue;  // false for NaN
        return text("element ", at, " is ", found, ", wanted ", expected.values[i], " to within ", expected.bounds[i]);
    }
    return {};
}

std::vector<TuningProblem> tuning_problems(const Graph& graph, const DeviceTraits& device) {
    Collector collector;
    DeviceTraits lowering = device;
    lowering.autotuner = &collector;
    const LiveNodes live = live_nodes(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i)
        if (const Node& node = graph.nodes()[i]; live[i] && !node.is_view()) lower(graph, live, node, lowering);
    return std::move(collector.problems);
}

}  // namespace vkf
