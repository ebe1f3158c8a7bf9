// Autotuner of a device: tries kernels on it once, checks and times them, and remembers the choice.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/autotuner.h"
#include "program/tuning_attempt.h"
#include "program/tuning_cache.h"
#include "program/tuning_journal.h"

namespace vkf {

class Device;
struct DeviceInfo;

/// Kernel implementations of matrix products that this device can run, if its advertised features are true: "subgroup",
/// "tile", "coopmat", "coopmat2" (runtime/ops/matmul/gemm_config.h). Attention has the same ones.
std::vector<std::string> kernel_implementations(const DeviceInfo& device);

struct AutotunerOptions {
    std::string implementation = "auto";                     // or the only one to use, where possible
    std::optional<TuningCachePlace> cache = {};              // results of earlier runs
    std::function<void(const std::string& line)> tell = {};  // gets messages, such as why a candidate is left out
    /// Gets the progress: "trying out kernels", 3 of 25 "computations".
    std::function<void(std::string_view title, std::string_view unit, std::size_t done, std::size_t all)> progress = {};
    /// Called between trials; true gives up. A TuningInterrupted is then thrown, and no candidate is left out.
    std::function<bool()> interrupted = {};
    double budget_s = 60;  // for all trials of this object
    double hopeless = 20;  // a candidate this many times as slow as another at a small size is left out
    /// A run of a trial that takes longer hangs. Default: 20 on a GPU; a CPU keeps its own patience, since its driver
    /// compiles while it runs.
    std::optional<double> patience_s = {};
};

/// Thrown if AutotunerOptions::interrupted returns true.
struct TuningInterrupted {};

/// Runs every candidate on operands whose result is known (graph/autotuner.h), with guard bands and poisoned memory
/// around them. Leaves out candidates that are wrong, that the driver rejects, that lose the device or never end, and
/// keeps the fastest of the others. A device's advertised features are not trusted beyond that. *subgroup*, which is
/// made for CPUs, is tried only if no other candidate is right.
///
/// Candidates that are hopelessly slow at a small size are left out, too, without being run at a large one: some
/// drivers list matrices that they compute a thousand times as slowly as products without matrices. When the budget is
/// spent, the first candidate that is right is taken and not remembered: the next run continues.
///
/// On a CPU nothing is timed: the order of candidates was measured there. With `implementation` "auto" the first one
/// that `vkformer check` has not found wrong is taken; of a named implementation the first one is checked once.
///
/// If a computation is too small for the named implementation, or does not fit its shared memory, another
/// implementation computes it: any if cooperative matrices were asked for, otherwise one without them.
///
/// Results are kept in the cache folder, one file per type of device, driver, subgroup size and version of the kernels.
/// A file is written whole or not at all. Results that cannot be read are measured again; results that cannot be
/// written are lost. A journal next to the file tells the next run which candidate ended this one
/// (program/tuning_journal.h).
class DeviceAutotuner : public Autotuner {
public:
    /// Throws InputError if the device cannot run the implementation that is asked for.
    DeviceAutotuner(Device& device, AutotunerOptions options);

    /// Builds all kernels of all candidates on all processors, then tries them. Throws like choose().
    void prepare(const DeviceTraits& device, const Graph& graph) override;

    /// Throws Error if no candidate computes right, or a candidate loses the device; DeviceHang if one never ends;
    /// InputError if the only allowed implementation cannot be used for what the graph computes.
    std::size_t choose(const DeviceTraits& device, const TuningProblem& problem) override;

private:
    using Clock = std::chrono::steady_clock;

    /// A problem that is being solved.
    struct Open {
        std::string kind;  // the problem's kind and the candidates
        const TuningProblem* problem;
        std::vector<std::string> candidates;
        std::unique_ptr<TuningCase> correctness = {}, timing = {};
        std::shared_future<TuningOperands> correctness_operands = {}, timing_operands = {};
    };

    /// A candidate that computes right, ready to be timed.
    struct TimedCandidate {
        std::string candidate;
        std::unique_ptr<TuningAttempt> attempt;
        std::vector<double> seconds = {};
    };

    /// Reads the journals of earlier runs that ended in the middle of a trial, and leaves out their candidates.
    void learn_from_journals();
    /// Candidates that may be used, those for CPUs last.
    std::vector<std::string> allowed(const DeviceTraits& device, const TuningProblem& problem) const;
    /// The chosen candidate, if one has been chosen and is among `candidates`; otherwise null.
    const std::string* known(const std::string& kind, const std::vector<std::string>& candidates) const;
    bool refused(const TuningProblem& problem, const std::string& candidate) const;
    void refuse(const TuningProblem& problem, const std::string& candidate, const std::string& reason);

    void solve(const DeviceTraits& device, std::span<const TuningProblem> problems);
    void make_kernels_of(const DeviceTraits& device, std::span<Open> list);
    /// The fastest candidate that is right; without `timed`, the first one. Throws Error if none is right.
    TuningResult measure(const DeviceTraits& device, Open& open, bool timed);
    /// The best of these candidates; none if none is right. `reason` gets the fault of the last one.
    TuningResult best_of(const DeviceTraits& device, Open& open, std::span<const std::string> candidates, bool timed,
                         std::string& reason);
    /// Keeps the fastest candidate by the median of several runs. The candidates run alternately, so that a change of
    /// the device's clocks affects all of them; one that is far behind the others stops running. `gflops` gets the 10^9
    /// operations per second of each.
    void keep_fastest(const TuningProblem& problem, std::vector<TimedCandidate>& list,
                      std::map<std::string, double>& gflops, std::string& reason);
    /// Runs `work`, which tries a candidate and returns its fault. If there is one, reports it and returns false. The
    /// journal holds the candidate meanwhile.
    bool attempt(const TuningProblem& problem, const std::string& candidate, std::string& reason,
                 const std::function<std::string()>& work);
    /// Like attempt(), without the journal, for a candidate that has run before.
    bool succeeds(const TuningProblem& problem, const std::string& candidate, std::string& reason,
                  const std::function<std::string()>& work);

    bool out_of_time() const;
    bool interrupted() const { return options_.interrupted && options_.interrupted(); }
    void tell(const std::string& line) const;
    void progress(std::string_view title, std::string_view unit, std::size_t done, std::size_t all) const;
    void save() const;

    Device& device_;
    AutotunerOptions options_;
    bool measured_ = false;
    bool one_by_one_ = false;  // an earlier run ended while all kernels were being built
    TuningCache known_;
    std::map<std::string, std::string> untimed_;  // by kind, for this run only
    std::map<std::string, std::map<std::string, double>> right_;  // seconds, by correctness case and candidate
    TuningJournal journal_;
    std::chrono::duration<double> spent_{};  // in earlier calls
    Clock::time_point solving_since_;
};

}  // namespace vkf
