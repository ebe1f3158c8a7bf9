#include "program/tuner.h"

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
class Only : public Chooser {
public:
    explicit Only(std::string candidate) : candidate_(std::move(candidate)) {}

    std::size_t choose(const DeviceTraits&, const Question& question) override {
        const auto at = std::ranges::find(question.candidates, candidate_);
        if (at == question.candidates.end()) throw Error("it is no kernel for ", question.kind);
        return static_cast<std::size_t>(at - question.candidates.begin());
    }

private:
    std::string candidate_;
};

std::string way_of(const std::string& candidate) {
    return candidate.substr(0, candidate.find(' '));
}

/// A trial made executable with one candidate, and run once.
class Attempt {
public:
    Attempt(Device& device, DeviceTraits lowering, Trial& trial, const std::string& candidate)
        : trial_(trial),
          only_(candidate),
          stamped_(device.info().timestamp_ns > 0),
          state_(device),
          program_(device, trial.graph, state_,
                   {.stamps = stamped_, .guarded = true, .traits = with(std::move(lowering), &only_)}) {
        for (const auto& [name, values] : trial.inputs) program_.write(name, values);
        program_.run();
    }

    /// What is wrong with what was computed; empty: nothing.
    std::string fault() const {
        if (const std::string damage = program_.damaged_guards(); !damage.empty())
            return "it writes where it must not: " + damage.substr(0, damage.find('\n'));
        return trial_.fault(program_.read("y"));
    }

    /// The median of several runs, in seconds.
    double seconds() {
        constexpr std::size_t least = 3, most = 25;
        constexpr double longest = 0.1;
        std::vector<double> samples;
        for (double sum = 0; samples.size() < least || (samples.size() < most && sum < longest); sum += samples.back())
            samples.push_back(once());
        std::ranges::nth_element(samples, samples.begin() + std::ssize(samples) / 2);
        return std::max(samples[samples.size() / 2], 1e-9);
    }

private:
    static DeviceTraits with(DeviceTraits lowering, Chooser* chooser) {
        lowering.chooser = chooser;
        return lowering;
    }

    double once() {
        const auto start = std::chrono::steady_clock::now();
        program_.run();
        if (!stamped_) return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        double ms = 0;
        for (const NodeTime& node : program_.node_times())
            if (node.op == trial_.op) ms += node.ms;
        return ms * 1e-3;
    }

    const Trial& trial_;
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

std::string why_not(const DeviceInfo& device, const std::string& way) {
    if (way == "coopmat")
        return text(device.name, device.cooperative_matrix ? " lists no cooperative matrices that our kernels can use"
                                                           : " has no VK_KHR_cooperative_matrix");
    if (way == "coopmat2")
        return text(device.name, device.cooperative_matrix2
                                     ? " lists no matrices of a workgroup that our kernel can use"
                                     : " has no VK_NV_cooperative_matrix2");
    return "there is no such way";
}

}  // namespace

std::vector<std::string> product_ways(const DeviceInfo& device) {
    std::vector<std::string> ways{"lanes", "tile"};
    if (device.subgroup_size >= 8 && std::ranges::any_of(device.matrices, has_product_kernel))
        ways.push_back("coopmat");
    if (!device.workgroup_matrices.empty() && has_kernel("matmul_coopmat2")) ways.push_back("coopmat2");
    return ways;
}

Tuner::Tuner(Device& device, TunerOptions options) : device_(device), options_(std::move(options)) {
    const std::vector<std::string> ways = product_ways(device.info());
    require(options_.way == "auto" || std::ranges::find(ways, options_.way) != ways.end(), "kernels ", options_.way,
            ": ", why_not(device.info(), options_.way), "; it can do ", joined(ways));
    if (!options_.cache) return;
    try {
        known_ = read_choices(device.info(), *options_.cache);
    } catch (const std::exception& error) {
        tell(text("kernels are chosen anew: ", error.what()));
    }
}

std::size_t Tuner::choose(const DeviceTraits& device, const Question& question) {
    if (device.cpu && options_.way == "auto") return 0;
    std::vector<std::string> allowed;
    for (const std::string& candidate : question.candidates)
        if (way_of(candidate) == options_.way) allowed.push_back(candidate);
    const bool matrices = options_.way == "coopmat2" ? device.workgroup_matrices > 0 : device.matrices.has_value();
    require(!allowed.empty() || !options_.way.starts_with("coopmat") || matrices, "kernels ", options_.way, ": what ",
            device_.info().name,
            "'s matrices take does not suit this computation: bf16 wants activations in bf16; fp16 "
            "wants them in fp16, or in 16 bits at all where there are no gradients");
    // Too small for matrices; or attention, which has fewer ways than products.
    const bool any = options_.way == "auto" || options_.way.starts_with("coopmat");
    if (allowed.empty())
        std::ranges::copy_if(question.candidates, std::back_inserter(allowed),
                             [&](const std::string& at) { return any || !at.starts_with("coopmat"); });
    if (device.cpu) allowed.resize(1);  // in the order of a model that was measured there
    const std::string kind = question.kind + ": " + joined(allowed);
    auto known = known_.chosen.find(kind);
    if (known == known_.chosen.end() || std::ranges::find(allowed, known->second.kernel) == allowed.end()) {
        known = known_.chosen.insert_or_assign(kind, measure(device, question, allowed)).first;
        save();
    }
    const auto at = std::ranges::find(question.candidates, known->second.kernel);
    return static_cast<std::size_t>(at - question.candidates.begin());
}

Choice Tuner::measure(const DeviceTraits& device, const Question& question,
                      const std::vector<std::string>& candidates) {
    if (!std::exchange(measured_, true)) tell("trying out kernels, once for this device");
    const std::unique_ptr<Trial> awkward = question.awkward(), typical = question.typical();
    Choice best;
    std::string last_reason;
    const auto refused = [&](const std::string& candidate) { return known_.refused.contains(candidate); };
    const bool all_refused = std::ranges::all_of(candidates, refused);
    for (const std::string& candidate : candidates) {
        if (refused(candidate) && !all_refused) continue;
        std::string reason;
        try {
            reason = Attempt(device_, device, *awkward, candidate).fault();
            if (reason.empty()) {
                Attempt attempt(device_, device, *typical, candidate);
                reason = attempt.fault();
                if (reason.empty()) best.gflops[candidate] = 1e-9 * typical->flops / attempt.seconds();
            }
            if (!reason.empty()) known_.refused[candidate] = reason;
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
            known_.refused[candidate] = "it lost the device";
            save();
            throw Error("kernel ", candidate, " lost the device: ", reason, " (the next run leaves it out)");
        }
        tell(last_reason);
    }
    if (best.kernel.empty())
        throw Error("no kernel computes ", question.kind, " right on ", device_.info().name, ", ",
                    device_.info().driver, ": ", last_reason);
    return best;
}

void Tuner::tell(const std::string& line) const {
    if (options_.tell) options_.tell(line);
}

void Tuner::save() const {
    if (!options_.cache) return;
    try {
        write_choices(device_.info(), *options_.cache, known_);
    } catch (const std::exception&) {
        // It only saves time: a run must not fail because a home directory is read-only.
    }
}

}  // namespace vkf
