#include "graph/kernel_variants.h"

#include <algorithm>

#include "graph/autotuner.h"
#include "graph/lower.h"

namespace vkf {

namespace {

/// Chooses the candidate at one index of every list, or the last one of a shorter list, and remembers its choice.
class AtPlace : public Autotuner {
public:
    explicit AtPlace(std::size_t place) : place_(place) {}

    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        longest = std::max(longest, problem.candidates.size());
        const std::size_t chosen = std::min(place_, problem.candidates.size() - 1);
        again |= chosen < place_;
        if (const std::string& name = problem.candidates[chosen]; candidate.find(name) == std::string::npos)
            candidate += (candidate.empty() ? "" : ", ") + name;
        return chosen;
    }

    std::string candidate;  // several, if a node poses several problems
    std::size_t longest = 1;
    bool again = false;  // true if a shorter list's last one was chosen

private:
    std::size_t place_;
};

}  // namespace

std::vector<KernelVariant> kernel_variants(const Graph& graph, const DeviceTraits& device) {
    const LiveNodes live = live_nodes(graph);
    std::vector<KernelVariant> list;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (!live[i] || node.is_view()) continue;
        const auto first = std::ssize(list);
        std::size_t places = 1;
        for (std::size_t place = 0; place < places; ++place) {
            AtPlace chooser(place);
            DeviceTraits lowering = device;
            lowering.autotuner = &chooser;
            for (Dispatch& dispatch : lower(graph, live, node, lowering).dispatches) {
                const auto same = std::find_if(list.begin() + first, list.end(), [&](const KernelVariant& made) {
                    return made.kernel == dispatch.kernel && made.constants == dispatch.constants;
                });
                if (same == list.end())
                    list.push_back({i, chooser.candidate, std::move(dispatch.kernel), std::move(dispatch.constants)});
                else if (same->implementation != chooser.candidate && !chooser.again)
                    same->implementation.clear();
            }
            places = chooser.longest;
        }
    }
    return list;
}

}  // namespace vkf
