#include "program/tuning_attempt.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "graph/lower.h"
#include "passes/run_passes.h"
#include "program/kernel_constants.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

DeviceTraits with(DeviceTraits lowering, Autotuner& autotuner) {
    lowering.autotuner = &autotuner;
    return lowering;
}

}  // namespace

std::size_t Only::choose(const DeviceTraits&, const TuningProblem& problem) {
    const auto at = std::ranges::find(problem.candidates, candidate_);
    if (at == problem.candidates.end()) throw Error("it is no kernel for ", problem.kind);
    return static_cast<std::size_t>(at - problem.candidates.begin());
}

std::vector<KernelRequest> kernels_of(TuningCase& tuning_case, DeviceTraits lowering, const std::string& candidate) {
    Only only(candidate);
    const DeviceTraits device = with(std::move(lowering), only);
    run_passes(tuning_case.graph, passes_for(device));
    const LiveNodes live = live_nodes(tuning_case.graph);
    std::vector<KernelRequest> made;
    for (std::size_t i = 0; i < tuning_case.graph.nodes().size(); ++i)
        if (const Node& node = tuning_case.graph.nodes()[i]; live[i] && !node.is_view())
            std::ranges::transform(lower(tuning_case.graph, live, node, device).dispatches, std::back_inserter(made),
                                   kernel_request);
    return made;
}

TuningAttempt::TuningAttempt(Device& device, DeviceTraits lowering, TuningCase& tuning_case,
                             const TuningOperands& operands, const std::string& candidate)
    : case_(tuning_case),
      operands_(operands),
      only_(candidate),
      stamped_(device.info().timestamp_ns > 0),
      state_(device),
      program_(device, tuning_case.graph, state_,
               {.stamps = stamped_, .guarded = true, .traits = with(std::move(lowering), only_)}) {
    for (const auto& [name, values] : operands.inputs) program_.write(name, values);
    program_.run();
}

std::string TuningAttempt::mismatch() const {
    if (const std::string damage = program_.damaged_guards(); !damage.empty())
        return "it writes where it must not: " + damage.substr(0, damage.find('\n'));
    return vkf::mismatch(operands_.expected, program_.read("y"));
}

double TuningAttempt::seconds(double enough) {
    constexpr int most = 10, some = 5;
    constexpr double long_enough = 0.2, too_long = 2;
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    for (int runs = 0; runs < most && sum < (runs < some ? too_long : long_enough) && least > enough; ++runs) {
        const double run = once();
        least = std::min(least, run);
        sum += run;
    }
    return least;
}

std::int64_t TuningAttempt::bytes() const {
    const MemoryUse& use = program_.memory();
    return use.arena + use.states + use.constants + use.inputs + use.outputs;
}

double TuningAttempt::once() {
    const auto start = std::chrono::steady_clock::now();
    program_.repeat();
    flops_ = program_.flops();
    if (!stamped_) return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double ms = flops_ = 0;
    for (const NodeTime& node : program_.node_times())
        if (node.op == case_.op) ms += node.ms, flops_ += node.flops;
    return ms * 1e-3;
}

}  // namespace vkf
