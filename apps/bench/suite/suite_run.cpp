#include "apps/bench/suite/suite_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "apps/bench/bench_timing.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"

namespace vkf {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double RUNS = 5;  // repetitions of a long measurement: to warm up, to compile, and those that are timed

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string family_of(const LeftOut& what) {
    return what.family + ' ' + what.precision;
}

}  // namespace

double SuiteBudget::needed(const LeftOut& what, double least_seconds) const {
    const auto found = known_.find(family_of(what));
    const Experience known = found == known_.end() ? slowest() : found->second;
    return known.preparation + std::max(each_, RUNS * known.slowness * least_seconds);
}

SuiteBudget::Experience SuiteBudget::slowest() const {
    if (known_.empty()) return {};
    Experience made{0, 0};
    for (const auto& [family, known] : known_) {
        made.slowness = std::max(made.slowness, known.slowness);
        made.preparation = std::max(made.preparation, known.preparation);
    }
    return made;
}

void SuiteBudget::learn(const LeftOut& what, double least_seconds, double repetition, double spent) {
    const auto [at, is_new] = known_.try_emplace(family_of(what), Experience{0, 0});
    if (least_seconds > 0) at->second.slowness = std::max(at->second.slowness, repetition / least_seconds);
    at->second.preparation = std::max(at->second.preparation, spent - std::max(each_, RUNS * repetition));
}

void run_suite(Device& device, std::span<const SuiteItem> plan, double seconds, BenchReport& report,
               const SuiteProgress& progress) {
    constexpr double measurements = 300;  // share the time; the larger ones take more than their share
    SuiteBudget budget(seconds, std::clamp(seconds / measurements, 0.05, 2.0));
    const auto start = Clock::now();
    for (std::size_t i = 0; i < plan.size(); ++i) {
        stop_if_interrupted();
        const SuiteItem& item = plan[i];
        const auto leave_out = [&](const std::string& reason) {
            report.suite->left_out.push_back(item.what);
            report.suite->left_out.back().reason = reason;
        };
        const double left = budget.left(seconds_since(start));
        progress(i, std::max(left, 0.0), item.what.name);
        if (left <= 0) {
            leave_out("the time is over");
            continue;
        }
        const PreparedItem prepared = item.prepare(device);
        if (const std::string lack = lacking_memory(device, prepared.analysis); !lack.empty()) {
            leave_out(lack);
            continue;
        }
        const double shortest = least_seconds(prepared.analysis, report.peak);
        if (const double needed = budget.needed(item.what, shortest); needed > left) {
            leave_out(text("would take about ", duration_text(needed), " of ", duration_text(left), " left"));
            continue;
        }
        const auto began = Clock::now();
        double repetition = 0;
        for (Measurement& made : prepared.measure(budget.each())) {
            made.precision = item.what.precision;
            repetition = std::max(repetition, made.seconds.median);
            report.measurements.push_back(std::move(made));
        }
        budget.learn(item.what, shortest, repetition, seconds_since(began));
    }
}

}  // namespace vkf
