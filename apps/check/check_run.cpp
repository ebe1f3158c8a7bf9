#include "apps/check/check_run.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "apps/check/check_options.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "base/error.h"
#include "base/os/child_process.h"
#include "base/text/json.h"

namespace vkf {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Checks of a plan that one process makes: every `step`-th from `first` on, `most` of them or all.
struct Part {
    std::size_t first = 0, step = 1, most = 0;
};

std::vector<std::string> words_of(const Common& common, const CheckOptions& options, const Part& part) {
    std::vector<std::string> words = program_words();
    words.insert(words.end(), {"check", "--in-process", "--seed", std::to_string(common.seed), "--first",
                               std::to_string(part.first), "--step", std::to_string(part.step)});
    if (part.most > 0) words.insert(words.end(), {"--most", std::to_string(part.most)});
    if (!common.device.empty()) words.insert(words.end(), {"--device", common.device});
    if (!options.pretend.empty()) words.insert(words.end(), {"--pretend", options.pretend});
    for (const std::string& table : options.only) words.insert(words.end(), {"--only", table});
    for (const std::string& table : options.skip) words.insert(words.end(), {"--skip", table});
    return words;
}

/// First line of a text, without "vkformer: error: ".
std::string first_line(const std::string& words) {
    std::string line = words.substr(0, words.find('\n'));
    constexpr std::string_view prefix = "vkformer: error: ";
    return line.starts_with(prefix) ? line.substr(prefix.size()) : line;
}

/// A process that makes the checks of a part. If it dies or hangs, another one takes over after the check that it was
/// in, which has failed; after two such checks of a table of ops, the rest of the table is left out.
class Checker {
public:
    Checker(const Common& common, const CheckOptions& options, const Part& part)
        : common_(common), options_(options), part_(part) {
        start();
    }

    /// Takes what the process has said meanwhile, waiting for it at most `most`; returns the checks that have ended.
    std::vector<CheckResult> poll(std::chrono::milliseconds most) {
        std::vector<CheckResult> ended;
        process_->read(output_, errors_, most);
        for (std::size_t end; (end = output_.find('\n')) != std::string::npos; output_.erase(0, end + 1))
            take(output_.substr(0, end), ended);
        if (current_ && since(since_) > patience()) {
            process_->kill();
            give_up(text("does not end within ", patience(), " s"), ended);
        } else if (!process_->open() && process_->ended() && output_.find('\n') == std::string::npos) {
            finish(ended);
        }
        return ended;
    }

    bool done() const { return done_; }
    const std::optional<PlanLine>& plan() const { return plan_; }

private:
    void start() {
        process_ = std::make_unique<ChildProcess>(words_of(common_, options_, part_));
        output_.clear(), errors_.clear();
        current_.reset();
        begun_ = false;
    }

    double patience() const {
        if (options_.patience > 0) return static_cast<double>(options_.patience);
        return plan_ && (plan_->head.kind == "CPU" || !options_.pretend.empty()) ? 600 : 60;
    }

    void take(const std::string& line, std::vector<CheckResult>& ended) {
        const nlohmann::json root = parse_json(line, "a line of a process of checks");
        if (auto plan = read_plan_line(root)) plan_ = std::move(plan), begun_ = true;
        if (auto begin = read_begin_line(root)) current_ = std::move(begin), since_ = Clock::now();
        auto result = read_result(root);
        if (!result) return;
        next_after(result->index);
        ended.push_back(std::move(*result));
        current_.reset();
    }

    void next_after(std::size_t index) {
        part_.first = index + part_.step;
        if (part_.most > 0 && --part_.most == 0) done_ = true;
    }

    /// The check that the process was in has failed; goes on with the next one.
    void give_up(const std::string& fault, std::vector<CheckResult>& ended) {
        CheckResult lost = std::move(*current_);
        current_.reset();
        lost.failures = {fault};
        lost.seconds = since(since_);
        next_after(lost.index);
        // A table that has ended two processes would go on to do so, and starting anew takes time.
        if (++lost_[lost.table] == 2) options_.skip.push_back(lost.table);
        ended.push_back(std::move(lost));
        if (!done_) start();
    }

    /// The process has ended: with its part, in a check, or because the device was unusable after one.
    void finish(std::vector<CheckResult>& ended) {
        const int status = process_->status();
        const std::string fault =
            errors_.empty() ? status_text(status) : text(status_text(status), ": ", first_line(errors_));
        if (!begun_)
            throw Error(errors_.empty() ? text("a process of checks could not begin: ", fault) : first_line(errors_));
        if (current_) return give_up(fault, ended);
        constexpr int by_signal = 128;
        if (status > by_signal)  // while the device was closed
            ended.push_back(
                {.index = plan_->checks, .table = "device", .name = "end of a process", .failures = {fault}});
        done_ = done_ || status == 0 || part_.first >= plan_->checks;
        if (!done_) start();
    }

    const Common& common_;
    CheckOptions options_;
    Part part_;
    std::map<std::string, int> lost_;  // processes that a table's checks have ended
    std::unique_ptr<ChildProcess> process_;
    std::string output_, errors_;
    std::optional<PlanLine> plan_;
    std::optional<CheckResult> current_;
    Clock::time_point since_;
    bool begun_ = false, done_ = false;
};

using Checkers = std::vector<std::unique_ptr<Checker>>;

/// Waits until all are done or `go_on` is false; `take` gets each result.
template <class Take, class GoOn>
void wait_for(Checkers& checkers, const Take& take, const GoOn& go_on) {
    while (go_on() && std::ranges::any_of(checkers, [](const auto& checker) { return !checker->done(); })) {
        stop_if_interrupted();
        for (const auto& checker : checkers)
            if (!checker->done())
                for (CheckResult& result : checker->poll(std::chrono::milliseconds(20))) take(std::move(result));
    }
}

/// Repeats the first checks by two processes at once and compares bits with those of before.
void check_together(const Common& common, const CheckOptions& options, CheckReport& report, double limit) {
    std::map<std::size_t, std::string> before;
    for (const CheckResult& result : report.results)
        if (result.failures.empty() && !result.bits.empty()) before[result.index] = result.bits;
    if (before.empty()) return;
    const std::size_t most = options.quick ? 8 : 32;
    Checkers two;
    for (int i = 0; i < 2; ++i) two.push_back(std::make_unique<Checker>(common, options, Part{.most = most}));
    const Clock::time_point start = Clock::now();
    std::map<std::size_t, int> times;
    const auto take = [&](const CheckResult& result) {
        const auto alone = before.find(result.index);
        if (alone == before.end()) return;
        report.together += ++times[result.index] == 2;
        if (alone->second == result.bits && result.failures.empty()) return;
        if (std::ranges::count(report.differences, result.name) == 0) report.differences.push_back(result.name);
    };
    wait_for(two, take, [&] { return since(start) < limit; });
}

}  // namespace

CheckReport check_device(const Common& common, const CheckOptions& options) {
    const Clock::time_point start = Clock::now();
    const double limit = 60 * options.limit_minutes();
    CheckReport report{.pretend = options.pretend};
    Checkers checkers;
    checkers.push_back(std::make_unique<Checker>(common, options, Part{}));
    Progress progress(common, "check", "checks", 0);
    std::size_t failed = 0;
    const auto take = [&](CheckResult result) {
        failed += !result.failures.empty();
        if (!result.failures.empty()) progress.line(text(result.name, ": ", result.failures.front()));
        report.results.push_back(std::move(result));
        progress.update(std::ssize(report.results), failed > 0 ? text(failed, " failed") : "");
    };
    wait_for(checkers, take, [&] { return since(start) < limit && !checkers.front()->plan(); });
    const std::optional<PlanLine> plan = checkers.front()->plan();
    if (plan && plan->head.kind == "CPU") {
        checkers.clear();
        report.results.clear();
        for (const std::size_t first : {0, 1})
            checkers.push_back(std::make_unique<Checker>(common, options, Part{.first = first, .step = 2}));
    }
    // A tenth of the time is for two processes that make the same checks at once.
    wait_for(checkers, take, [&] { return since(start) < 0.9 * limit; });
    report.stopped = std::ranges::any_of(checkers, [](const auto& checker) { return !checker->done(); });
    checkers.clear();
    if (!plan) throw Error("no check could begin within ", duration_text(limit));
    require(plan->checks > 0, "this device has no kernels of what --only names");
    if (report.results.empty())
        throw Error("no check has ended within ", duration_text(limit), ", wanted more --minutes");
    report.head = plan->head;
    report.kernels = plan->kernels;
    report.planned = plan->checks;
    std::ranges::sort(report.results, {}, &CheckResult::index);
    check_together(common, options, report, std::max(5.0, limit - since(start)));
    report.seconds = since(start);
    return report;
}

CheckResult check_one(const Common& common, const CheckOptions& options,
                      const std::function<void(const PlanLine&)>& accept, const std::string& name) {
    Checkers one;
    one.push_back(
        std::make_unique<Checker>(common, options, Part{.first = static_cast<std::size_t>(options.first), .most = 1}));
    std::optional<CheckResult> found;
    wait_for(
        one, [&](CheckResult result) { found = std::move(result); }, [&] { return !found; });
    if (const auto& plan = one.front()->plan()) accept(*plan);
    require(found && found->name == name, "check ", options.first, " of this device is ",
            found ? found->name : "not in its plan", ", wanted ", name, ": the case belongs to another device");
    return *found;
}

}  // namespace vkf
