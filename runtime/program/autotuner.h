// Which kernels a device gets: tried on it once, checked, timed, and remembered.
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

/// The kernel implementations of matrix products for which this device has what it takes, if what it says is true:
/// "subgroup", "tile", "coopmat", "coopmat2" (runtime/ops/gemm_config.h). Attention has the same ones.
std::vector<std::string> kernel_implementations(const DeviceInfo& device);

struct AutotunerOptions {
    std::string implementation = "auto";                     // or the only one to use, where it can be
    std::optional<TuningCachePlace> cache = {};              // what earlier runs found out
    std::function<void(const std::string& line)> tell = {};  // somebody who wants to know what is left out and why
    /// Somebody who wants to know how far it has come: "trying out kernels", 3 of 25 "computations".
    std::function<void(std::string_view title, std::string_view unit, std::size_t done, std::size_t all)> progress = {};
    /// Asked between trials: whether to give up. Then a TuningInterrupted is thrown, and no candidate is left out.
    std::function<bool()> interrupted = {};
    double budget_s = 60;  // for all that is tried through this object
    double hopeless = 20;  // how many times as slow as another candidate one may be at a small size
    /// A run of a trial that takes longer hangs. Without it, 20 on a GPU; a CPU has its own patience, since its driver
    /// compiles while it runs.
    std::optional<double> patience_s = {};
};

/// Thrown where AutotunerOptions::interrupted has said so.
struct TuningInterrupted {};

/// Runs every candidate on operands whose result is known (graph/autotuner.h), with guard bands and poisoned memory
/// around them, leaves out those that are wrong, that the driver does not take, that lose the device or never end, and
/// keeps the fastest of the others. A device's advertised features are not trusted beyond that. *subgroup*, which is
/// made for CPUs, is tried where nothing else is right.
///
/// What is hopelessly slow at a small size is left out, too, without being run at a large one: drivers have been seen
/// to list matrices that they compute a thousand times as slowly as products without. When the budget is spent, the
/// first candidate that is right is taken and not remembered: the next run goes on.
///
/// On a CPU nothing is timed: the order of candidates has been measured there. With `implementation` "auto" the first
/// one is taken unseen; of a named implementation the first one is checked once.
///
/// Where a computation is too small for the named implementation, or does not fit its shared memory, another one does
/// it: any if cooperative matrices were asked for, else one without them.
///
/// What is found out is kept in the cache folder, one file per type of device, driver, subgroup size and version of the
/// kernels. It is written whole or not at all; what cannot be read is measured anew, and what cannot be written is
/// forgotten. A journal beside it tells the next run which candidate ended this one (program/tuning_journal.h).
class DeviceAutotuner : public Autotuner {
public:
    /// Throws InputError if the device cannot do it by the implementation that is asked for.
    DeviceAutotuner(Device& device, AutotunerOptions options);

    /// Makes all kernels of all candidates on all processors, then tries them. Throws as choose().
    void prepare(const DeviceTraits& device, const Graph& graph) override;

    /// Throws Error if no candidate computes right, or a candidate loses the device; DeviceHang if one never ends;
    /// InputError if the only implementation that was allowed cannot be used for what the graph computes.
    std::size_t choose(const DeviceTraits& device, const TuningProblem& problem) override;

private:
    using Clock = std::chrono::steady_clock;

    /// A problem on its way to being solved.
    struct Open {
        std::string kind;  // the problem's, and the candidates
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

    /// What earlier runs that ended in the middle of a trial say of it.
    void learn_from_journals();
    /// The candidates that may be used, those for CPUs last.
    std::vector<std::string> allowed(const DeviceTraits& device, const TuningProblem& problem) const;
    /// The chosen candidate, if it has been chosen and is still one; null otherwise.
    const std::string* known(const std::string& kind, const std::vector<std::string>& candidates) const;
    bool refused(const TuningProblem& problem, const std::string& candidate) const;
    void refuse(const TuningProblem& problem, const std::string& candidate, const std::string& reason);

    void solve(const DeviceTraits& device, std::span<const TuningProblem> problems);
    void make_kernels_of(const DeviceTraits& device, std::span<Open> list);
    /// Throws Error if no candidate is right. Without `timed` the first that is, otherwise the fastest.
    TuningResult measure(const DeviceTraits& device, Open& of, bool timed);
    /// The best of these; none if none is right. `reason` is what was wrong with the last one.
    TuningResult best_of(const DeviceTraits& device, Open& of, std::span<const std::string> candidates, bool timed,
                         std::string& reason);
    /// Keeps the fastest by the median of several runs. The candidates take turns, so that a change of the device's
    /// clocks meets all of them; one that is far behind the others stops running. `gflops` gets everyone's 10^9
    /// operations a second.
    void keep_fastest(const TuningProblem& problem, std::vector<TimedCandidate>& list,
                      std::map<std::string, double>& gflops, std::string& reason);
    /// Lets `work` try a candidate and say what is wrong with it. False, and somebody is told, if something is. The
    /// journal holds the candidate until then.
    bool attempt(const TuningProblem& problem, const std::string& candidate, std::string& reason,
                 const std::function<std::string()>& work);
    /// The same without the journal, for a candidate that has run before.
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
    bool one_by_one_ = false;  // the making of all kernels at once ended an earlier run
    TuningCache known_;
    std::map<std::string, std::string> untimed_;  // by kind: for this run only
    std::map<std::string, std::map<std::string, double>> right_;  // seconds, by correctness case and candidate
    TuningJournal journal_;
    std::chrono::duration<double> spent_{};  // before
    Clock::time_point solving_since_;
};

}  // namespace vkf
