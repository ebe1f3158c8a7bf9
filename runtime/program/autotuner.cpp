#include "program/autotuner.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "program/warm_up.h"
#include "vulkan/device/device.h"
#include "vulkan/kernel/kernel.h"

namespace vkf {

namespace {

std::string implementation_of(const std::string& candidate) {
    return candidate.substr(0, candidate.find(' '));
}

/// True if a candidate is made for CPUs; other devices try it only if no other candidate is right.
bool is_for_cpus(const std::string& candidate) {
    return implementation_of(candidate) == "subgroup";
}

std::string joined(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
    return list;
}

std::string kind_of(const TuningProblem& problem, const std::vector<std::string>& candidates) {
    return problem.kind + ": " + joined(candidates);
}

/// Limits a device's patience while the object lives; that of a CPU only if `seconds` is given.
class Patience {
public:
    Patience(Device& device, std::optional<double> seconds) : device_(device), before_(device.patience()) {
        constexpr double of_gpus = 20;
        if (!seconds && device.info().kind != DeviceKind::cpu) seconds = of_gpus;
        if (seconds) device.set_patience(std::chrono::duration<double>(*seconds));
    }
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;
    ~Patience() { device_.set_patience(before_); }

private:
    Device& device_;
    std::chrono::duration<double> before_;
};

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
    : device_(device),
      options_(std::move(options)),
      journal_(options_.cache ? tuning_cache_file(device.info(), *options_.cache) : std::filesystem::path()) {
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
    learn_from_journals();
}

void DeviceAutotuner::learn_from_journals() {
    const std::vector<TuningJournal::Trial> list = journal_.left_behind();
    for (const auto& [family, candidate] : list) {
        one_by_one_ |= candidate.empty();
        if (candidate.empty()) continue;
        known_.refused[family][candidate] = "a run that tried it never ended";
        tell(text("kernel ", candidate, " is left out: a run that tried it for ", family, " never ended"));
    }
    if (!list.empty()) save();
}

std::vector<std::string> DeviceAutotuner::allowed(const DeviceTraits& device, const TuningProblem& problem) const {
    const std::string& wanted = options_.implementation;
    const auto those = [&](const auto& may) {
        std::vector<std::string> list;
        std::ranges::copy_if(problem.candidates, std::back_inserter(list), may);
        if (device.cpu)
            list.resize(std::min<std::size_t>(list.size(), 1));  // their order was measured on CPUs
        else
            std::ranges::stable_partition(list, std::not_fn(is_for_cpus));
        return list;
    };
    if (wanted == "auto") return those([](const std::string&) { return true; });
    std::vector<std::string> list = those([&](const std::string& at) { return implementation_of(at) == wanted; });
    if (!list.empty()) return list;
    const bool of_matrices = wanted.starts_with("coopmat");
    const bool has = wanted == "coopmat2" ? device.workgroup_matrices > 0 : device.matrices.has_value();
    require(!of_matrices || has, "kernels ", wanted, ": what ", device_.info().name,
            "'s matrices take does not suit this computation: bf16 wants activations in bf16; fp16 "
            "wants them in fp16, or in 16 bits at all where there are no gradients");
    // The computation is too small for the named implementation.
    return those([&](const std::string& at) { return of_matrices || !at.starts_with("coopmat"); });
}

const std::string* DeviceAutotuner::known(const std::string& kind, const std::vector<std::string>& candidates) const {
    const auto among_them = [&](const std::string& kernel) {
        return std::ranges::find(candidates, kernel) != candidates.end();
    };
    if (const auto at = known_.chosen.find(kind); at != known_.chosen.end() && among_them(at->second.kernel))
        return &at->second.kernel;
    const auto at = untimed_.find(kind);
    return at == untimed_.end() ? nullptr : &at->second;
}

bool DeviceAutotuner::refused(const TuningProblem& problem, const std::string& candidate) const {
    const auto found = known_.refused.find(problem.family);
    return found != known_.refused.end() && found->second.contains(candidate);
}

void DeviceAutotuner::refuse(const TuningProblem& problem, const std::string& candidate, const std::string& reason) {
    known_.refused[problem.family][candidate] = reason;
}

// --- Choosing ------------------------------------------------------------------------------------

void DeviceAutotuner::prepare(const DeviceTraits& device, const Graph& graph) {
    if (!device.cpu) solve(device, tuning_problems(graph, device));
}

std::size_t DeviceAutotuner::choose(const DeviceTraits& device, const TuningProblem& problem) {
    if (device.cpu && options_.implementation == "auto") {
        const auto right = std::ranges::find_if(
            problem.candidates, [&](const std::string& candidate) { return !refused(problem, candidate); });
        return right == problem.candidates.end() ? 0 : static_cast<std::size_t>(right - problem.candidates.begin());
    }
    solve(device, {&problem, 1});
    const std::vector<std::string> candidates = allowed(device, problem);
    const auto at = std::ranges::find(problem.candidates, *known(kind_of(problem, candidates), candidates));
    return static_cast<std::size_t>(at - problem.candidates.begin());
}

void DeviceAutotuner::solve(const DeviceTraits& device, std::span<const TuningProblem> problems) {
    std::vector<Open> list;
    for (const TuningProblem& problem : problems) {
        std::vector<std::string> candidates = allowed(device, problem);
        std::string kind = kind_of(problem, candidates);
        if (!known(kind, candidates)) list.push_back({std::move(kind), &problem, std::move(candidates)});
    }
    if (list.empty()) return;
    if (!std::exchange(measured_, true)) tell("trying out kernels, once for this device");
    solving_since_ = Clock::now();
    const Patience patience(device_, options_.patience_s);
    for (Open& of : list) {
        of.correctness = of.problem->correctness_case();
        of.timing = of.problem->timing_case();
    }
    make_kernels_of(device, list);

    constexpr std::size_t ahead = 3;  // operands take as long to make as to use, and up to some 200 MiB
    std::size_t begun = 0, untimed = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const bool timed = !out_of_time();
        for (; begun < std::min(list.size(), timed ? i + ahead : i + 1); ++begun) {
            list[begun].correctness_operands = std::async(list[begun].correctness->operands).share();
            if (timed) list[begun].timing_operands = std::async(list[begun].timing->operands).share();
        }
        TuningResult best = measure(device, list[i], timed);
        list[i].timing_operands = {};
        if (best.gflops.empty()) {
            untimed_[list[i].kind] = best.kernel;
            ++untimed;
        } else {
            known_.chosen.insert_or_assign(list[i].kind, std::move(best));
        }
        save();
        progress("trying out kernels", "computations", i + 1, list.size());
    }
    spent_ += Clock::now() - solving_since_;
    if (untimed > 0)
        tell(text("the ", options_.budget_s, " s for trying out kernels are over: for ", untimed, " of ", list.size(),
                  " computations the first right one is used, and the next run goes on"));
}

void DeviceAutotuner::make_kernels_of(const DeviceTraits& device, std::span<Open> list) {
    if (one_by_one_) return;
    std::vector<KernelRequest> requests;
    for (Open& of : list)
        for (const std::string& candidate : of.candidates) {
            if (refused(*of.problem, candidate) || (is_for_cpus(candidate) && !is_for_cpus(of.candidates.front())))
                continue;
            try {
                for (TuningCase* at : {of.correctness.get(), of.timing.get()})
                    std::ranges::move(kernels_of(*at, device, candidate), std::back_inserter(requests));
            } catch (const Error&) {
                // The trial will report the error.
            }
        }
    journal_.note({"", ""});
    make_kernels_ahead(device_, requests, [&](std::size_t done, std::size_t all) {
        progress("making kernels to try", "kernels", done, all);
        return !out_of_time() && !interrupted();
    });
    journal_.strike_out();
}

// --- Trying --------------------------------------------------------------------------------------

TuningResult DeviceAutotuner::measure(const DeviceTraits& device, Open& open, bool timed) {
    const auto is_refused = [&](const std::string& candidate) { return refused(*open.problem, candidate); };
    std::vector<std::string> list = open.candidates;
    if (!std::ranges::all_of(list, is_refused)) std::erase_if(list, is_refused);
    const auto last_resort =
        device.cpu || is_for_cpus(list.front()) ? list.end() : std::ranges::find_if(list, is_for_cpus);
    std::string reason;
    for (const std::span<const std::string> part :
         {std::span(list.begin(), last_resort), std::span(last_resort, list.end())})
        if (TuningResult best = best_of(device, open, part, timed, reason); !best.kernel.empty()) return best;
    throw Error("no kernel computes ", open.problem->kind, " right on ", device_.info().name, ", ",
                device_.info().driver, ": ", reason);
}

TuningResult DeviceAutotuner::best_of(const DeviceTraits& device, Open& open, std::span<const std::string> candidates,
                                      bool timed, std::string& reason) {
    constexpr double quick = 5e-4;  // seconds; a GPU usually takes a twentieth of that
    const TuningProblem& problem = *open.problem;
    std::map<std::string, double>& checked = right_[problem.correctness.empty() ? problem.kind : problem.correctness];
    std::map<std::string, double> seconds;  // seconds of the correctness case, by correct candidate
    for (const std::string& candidate : candidates) {
        if (const auto before = checked.find(candidate); timed && before != checked.end()) {
            seconds.insert(*before);
            continue;
        }
        const bool right = attempt(problem, candidate, reason, [&] {
            TuningAttempt small(device_, device, *open.correctness, open.correctness_operands.get(), candidate);
            std::string wrong = small.mismatch();
            if (wrong.empty() && timed) seconds[candidate] = small.seconds(quick);
            return wrong;
        });
        if (right && !timed) return {candidate, {}};
    }
    checked.insert(seconds.begin(), seconds.end());
    const auto by_seconds = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto quickest = std::ranges::min_element(seconds, by_seconds);
    const std::int64_t room = device_.info().memory_bytes / 8;
    std::map<std::string, double> gflops;
    std::vector<TimedCandidate> list;
    for (const std::string& candidate : candidates) {
        if (!seconds.contains(candidate)) continue;
        std::int64_t held = 0;
        for (const TimedCandidate& one : list) held += one.attempt->bytes();
        if (held > room) keep_fastest(problem, list, gflops, reason);
        attempt(problem, candidate, reason, [&] {
            const double times = seconds[candidate] / quickest->second;
            if (seconds[candidate] > quick && times > options_.hopeless)
                return text("it takes ", std::round(times), " times as long as ", quickest->first);
            auto large =
                std::make_unique<TuningAttempt>(device_, device, *open.timing, open.timing_operands.get(), candidate);
            std::string wrong = large->mismatch();
            if (wrong.empty()) list.push_back({candidate, std::move(large)});
            return wrong;
        });
    }
    keep_fastest(problem, list, gflops, reason);
    if (list.empty()) return {};
    return {list.front().candidate, std::move(gflops)};
}

void DeviceAutotuner::keep_fastest(const TuningProblem& problem, std::vector<TimedCandidate>& list,
                                   std::map<std::string, double>& gflops, std::string& reason) {
    constexpr double enough = 0.1;       // seconds
    constexpr int least = 3, most = 15;  // rounds
    constexpr double behind = 3;
    for (TimedCandidate& one : list) one.seconds.clear();
    const auto fastest = [&] {
        double seconds = std::numeric_limits<double>::infinity();
        for (const TimedCandidate& one : list)
            if (!one.seconds.empty()) seconds = std::min(seconds, std::ranges::min(one.seconds));
        return seconds;
    };
    const auto run = [&](const TimedCandidate& one, const std::function<void()>& work) {
        return succeeds(problem, one.candidate, reason, [&] {
            work();
            return std::string();
        });
    };
    if (list.size() > 1) {
        const bool warm = run(list.front(), [&] { warm_up(device_, [&] { list.front().attempt->once(); }); });
        if (!warm) list.erase(list.begin());
    }
    double spent = 0;
    for (int round = 0; round < (list.size() > 1 ? most : 1) && (round < least || spent < enough); ++round)
        for (auto one = list.begin(); one != list.end();) {
            const bool stays = !one->seconds.empty() && std::ranges::min(one->seconds) > behind * fastest();
            const bool right = stays || run(*one, [&] {
                                   one->seconds.push_back(one->attempt->once());
                                   spent += one->seconds.back();
                               });
            one = right ? one + 1 : list.erase(one);
        }
    const auto slower = [&](const TimedCandidate& a, const TimedCandidate& b) {
        return gflops[a.candidate] < gflops[b.candidate];
    };
    for (TimedCandidate& one : list) {
        std::ranges::nth_element(one.seconds, one.seconds.begin() + std::ssize(one.seconds) / 2);
        const double seconds = one.seconds[one.seconds.size() / 2];
        gflops[one.candidate] = 1e-9 * one.attempt->flops() / std::max(seconds, 1e-9);
    }
    if (list.empty()) return;
    std::swap(list.front(), *std::ranges::max_element(list, slower));
    list.resize(1);
}

bool DeviceAutotuner::attempt(const TuningProblem& problem, const std::string& candidate, std::string& reason,
                              const std::function<std::string()>& work) {
    if (interrupted()) throw TuningInterrupted();
    journal_.note({problem.family, candidate});
    const bool right = succeeds(problem, candidate, reason, work);
    journal_.strike_out();
    return right;
}

bool DeviceAutotuner::succeeds(const TuningProblem& problem, const std::string& candidate, std::string& reason,
                               const std::function<std::string()>& work) {
    std::string wrong;
    try {
        wrong = work();
        if (!wrong.empty()) refuse(problem, candidate, wrong);
    } catch (const std::exception& error) {
        wrong = error.what();  // perhaps only for lack of memory
    }
    if (!wrong.empty()) {
        reason = text("kernel ", candidate, " is left out: ", wrong);
        const std::string lost = text("kernel ", candidate, ": ", wrong, " (the next run leaves it out)");
        try {
            device_.wait_idle();
        } catch (const DeviceHang&) {
            refuse(problem, candidate, "it never ended");
            save();
            throw DeviceHang(lost);
        } catch (const Error&) {
            refuse(problem, candidate, "it lost the device");
            save();
            throw Error(lost);
        }
        tell(reason);
    }
    return wrong.empty();
}

bool DeviceAutotuner::out_of_time() const {
    return spent_ + (Clock::now() - solving_since_) > std::chrono::duration<double>(options_.budget_s);
}

void DeviceAutotuner::progress(std::string_view title, std::string_view unit, std::size_t done, std::size_t all) const {
    if (options_.progress) options_.progress(title, unit, done, all);
}

void DeviceAutotuner::tell(const std::string& line) const {
    if (options_.tell) options_.tell(line);
}

void DeviceAutotuner::save() const {
    if (!options_.cache) return;
    try {
        write_tuning_cache(device_.info(), *options_.cache, known_);
    } catch (const std::exception&) {
        // The cache only saves time: a run must not fail because a home directory is read-only.
    }
}

}  // namespace vkf
