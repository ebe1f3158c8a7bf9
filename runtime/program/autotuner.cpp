#include "program/autotuner.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "program/program.h"
#include "vulkan/device.h"
#include "vulkan/kernel.h"

namespace vkf {

namespace {

/// Chooses one candidate always.
class Only : public Autotuner {
public:
    explicit Only(std::string candidate) : candidate_(std::move(candidate)) {}

    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        const auto at = std::ranges::find(problem.candidates, candidate_);
        if (at == problem.candidates.end()) throw Error("it is no kernel for ", problem.kind);
        return static_cast<std::size_t>(at - problem.candidates.begin());
    }

private:
    std::string candidate_;
};

std::string implementation_of(const std::string& candidate) {
    return candidate.substr(0, candidate.find(' '));
}

/// A case made executable with one candidate, and run once.
class Attempt {
public:
    Attempt(Device& device, DeviceTraits lowering, TuningCase& of, const std::string& candidate)
        : case_(of),
          only_(candidate),
          stamped_(device.info().timestamp_ns > 0),
          state_(device),
          program_(device, of.graph, state_,
                   {.stamps = stamped_, .guarded = true, .traits = with(std::move(lowering), &only_)}) {
        for (const auto& [name, values] : of.inputs) program_.write(name, values);
        program_.run();
    }

    /// What is wrong with what was computed; empty: nothing.
    std::string mismatch() const {
        if (const std::string damage = program_.damaged_guards(); !damage.empty())
            return "it writes where it must not: " + damage.substr(0, damage.find('\n'));
        return vkf::mismatch(case_.expected, program_.read("y"));
    }

    /// By the median of several runs.
    double gflops() {
        constexpr std::size_t least = 3, most = 25;
        constexpr double longest = 0.1;
        std::vector<double> samples;
        double flops = 0;
        for (double sum = 0; samples.size() < least || (samples.size() < most && sum < longest); sum += samples.back())
            samples.push_back(once(flops));
        std::ranges::nth_element(samples, samples.begin() + std::ssize(samples) / 2);
        return 1e-9 * flops / std::max(samples[samples.size() / 2], 1e-9);
    }

private:
    static DeviceTraits with(DeviceTraits lowering, Autotuner* autotuner) {
        lowering.autotuner = autotuner;
        return lowering;
    }

    /// Seconds of a run, and what it computes: of the op's nodes where they can be told from the others.
    double once(double& flops) {
        const auto start = std::chrono::steady_clock::now();
        program_.run();
        flops = program_.flops();
        if (!stamped_) return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        double ms = flops = 0;
        for (const NodeTime& node : program_.node_times())
            if (node.op == case_.op) ms += node.ms, flops += node.flops;
        return ms * 1e-3;
    }

    TuningCase& case_;
    Only only_;
    bool stamped_;
    State state_;
    Program program_;
};

std::string joined(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
    return list;
}

std::string why_not(const DeviceInfo& device, const std::string& implementation) {
    if (implementation == "coopmat")
        return text(device.name, device.cooperative_matrix ? " lists no cooperative matrices that our kernels can use"
                                                           : " has no VK_KHR_cooperative_matrix");
    if (implementation == "coopmat2")
        return text(device.name, device.cooperative_matrix2
                                     ? " lists no matrices of a workgroup that our kernel can use"
                                     : " has no VK_NV_cooperative_matrix2");
    return "there is no such implementation";
}

}  // namespace

std::vector<std::string> kernel_implementations(const DeviceInfo& device) {
    std::vector<std::string> list{"subgroup", "tile"};
    const auto kernels = [](const MatrixShape& at) { return has_matrix_kernels(at.element); };
    if (device.subgroup_size >= 8 && std::ranges::any_of(device.matrices, kernels)) list.emplace_back("coopmat");
    const auto workgroup_kernels = [](const GroupMatrices& at) { return has_workgroup_matrix_kernels(at.element); };
    if (std::ranges::any_of(device.workgroup_matrices, workgroup_kernels)) list.emplace_back("coopmat2");
    return list;
}

DeviceAutotuner::DeviceAutotuner(Device& device, AutotunerOptions options)
    : device_(device), options_(std::move(options)) {
    const std::vector<std::string> list = kernel_implementations(device.info());
    const std::string& wanted = options_.implementation;
    require(wanted == "auto" || std::ranges::find(list, wanted) != list.end(), "kernels ", wanted, ": ",
            why_not(device.info(), wanted), "; it can do ", joined(list));
    if (!options_.cache) return;
    try {
        known_ = read_tuning_cache(device.info(), *options_.cache);
    } catch (const std::exception& error) {
        tell(text("kernels are chosen anew: ", error.what()));
    }
}

std::vector<std::string> DeviceAutotuner::allowed(const DeviceTraits& device, const TuningProblem& problem) const {
    const std::string& wanted = options_.implementation;
    if (wanted == "auto") return problem.candidates;
    const auto those = [&](const auto& may) {
        std::vector<std::string> list;
        std::ranges::copy_if(problem.candidates, std::back_inserter(list), may);
        return list;
    };
    std::vector<std::string> list = those([&](const std::string& at) { return implementation_of(at) == wanted; });
    if (!list.empty()) return list;
    const bool of_matrices = wanted.starts_with("coopmat");
    const bool has = wanted == "coopmat2" ? device.workgroup_matrices > 0 : device.matrices.has_value();
    require(!of_matrices || has, "kernels ", wanted, ": what ", device_.info().name,
            "'s matrices take does not suit this computation: bf16 wants activations in bf16; fp16 "
            "wants them in fp16, or in 16 bits at all where there are no gradients");
    // This computation is too small for it.
    return those([&](const std::string& at) { return of_matrices || !at.starts_with("coopmat"); });
}

std::size_t DeviceAutotuner::choose(const DeviceTraits& device, const TuningProblem& problem) {
    if (device.cpu && options_.implementation == "auto") return 0;
    std::vector<std::string> candidates = allowed(device, problem);
    if (device.cpu) candidates.resize(1);  // their order was measured there
    const std::string kind = problem.kind + ": " + joined(candidates);
    auto known = known_.chosen.find(kind);
    if (known == known_.chosen.end() || std::ranges::find(candidates, known->second.kernel) == candidates.end()) {
        known = known_.chosen.insert_or_assign(kind, measure(device, problem, candidates)).first;
        save();
    }
    const auto at = std::ranges::find(problem.candidates, known->second.kernel);
    return static_cast<std::size_t>(at - problem.candidates.begin());
}

TuningResult DeviceAutotuner::measure(const DeviceTraits& device, const TuningProblem& problem,
                                      const std::vector<std::string>& candidates) {
    if (!std::exchange(measured_, true)) tell("trying out kernels, once for this device");
    const std::unique_ptr<TuningCase> correctness = problem.correctness_case(), timing = problem.timing_case();
    TuningResult best;
    std::string last_reason;
    std::map<std::string, std::string>& refused = known_.refused[problem.family];
    const auto is_refused = [&](const std::string& candidate) { return refused.contains(candidate); };
    const bool all_refused = std::ranges::all_of(candidates, is_refused);
    for (const std::string& candidate : candidates) {
        if (is_refused(candidate) && !all_refused) continue;
        std::string reason;
        try {
            reason = Attempt(device_, device, *correctness, candidate).mismatch();
            if (reason.empty()) {
                Attempt attempt(device_, device, *timing, candidate);
                reason = attempt.mismatch();
                if (reason.empty()) best.gflops[candidate] = attempt.gflops();
            }
            if (!reason.empty()) refused[candidate] = reason;
        } catch (const std::exception& error) {
            reason = error.what();  // perhaps only for want of memory
        }
        if (reason.empty()) {
            if (best.kernel.empty() || best.gflops[candidate] > best.gflops[best.kernel]) best.kernel = candidate;
            continue;
        }
        last_reason = text("kernel ", candidate, " is left out: ", reason);
        try {
            device_.wait_idle();
        } catch (const Error&) {
            refused[candidate] = "it lost the device";
            save();
            throw Error("kernel ", candidate, " lost the device: ", reason, " (the next run leaves it out)");
        }
        tell(last_reason);
    }
    if (best.kernel.empty())
        throw Error("no kernel computes ", problem.kind, " right on ", device_.info().name, ", ", device_.info().driver,
                    ": ", last_reason);
    return best;
}

void DeviceAutotuner::tell(const std::string& line) const {
    if (options_.tell) options_.tell(line);
}

void DeviceAutotuner::save() const {
    if (!options_.cache) return;
    try {
        write_tuning_cache(device_.info(), *options_.cache, known_);
    } catch (const std::exception&) {
        // It only saves time: a run must not fail because a home directory is read-only.
    }
}

}  // namespace vkf
