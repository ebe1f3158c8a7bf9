#include "apps/train/dry_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/progress.h"
#include "apps/train/step_trace.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/os/memory.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr std::int64_t TIMED = 2, TRACED = 3;  // steps

void run_step(Trainer& trainer, const TrainLoop& loop, std::int64_t step) {
    const StepResult result = trainer.step(step, loop.learning_rate(step), loop.feed);
    if (!result.skipped && !std::isfinite(result.loss)) throw Error("step ", step, ": the loss is ", result.loss);
}

/// Seconds of the last of the timed steps from `first` to `last`; drivers and caches are still getting ready in the
/// first.
double seconds_of_step(Trainer& trainer, const TrainLoop& loop, std::int64_t first, std::int64_t last) {
    double seconds = 0;
    for (std::int64_t i = 0; i < TIMED; ++i) {
        const Clock::time_point start = Clock::now();
        run_step(trainer, loop, std::min(first + i, last));
        seconds = seconds_since(start);
    }
    return seconds;
}

/// Seconds of all steps of the run.
double seconds_of_steps(Trainer& trainer, const TrainLoop& loop) {
    double seconds = 0;
    for (std::size_t i = 0; i < loop.phases.size(); ++i) {
        const std::int64_t first = loop.phases[i];
        const std::int64_t end = i + 1 < loop.phases.size() ? std::min(loop.phases[i + 1], loop.steps) : loop.steps;
        if (end > first) seconds += static_cast<double>(end - first) * seconds_of_step(trainer, loop, first, end - 1);
    }
    return seconds;
}

/// Writes the timeline of the steps after the timed ones.
void write_trace(Trainer& trainer, const TrainLoop& loop, const std::string& file, const Common& common) {
    StepTrace trace(trainer.device().info().name);
    std::int64_t step = TIMED;
    trainer.set_trace([&](const TracedRun& run) { trace.add(step, run); });
    for (; step < TIMED + TRACED; ++step) run_step(trainer, loop, step);
    trainer.set_trace({});
    write_atomically(file, trace.document().dump());
    note(common, text(file, " has the timeline of ", TRACED, " steps, ", trace.events(),
                      " events: open it in Perfetto or in Chrome's about:tracing"));
}

/// Seconds of the second of two batches, if an evaluation has two.
double seconds_of_evaluation_batch(const TrainLoop& loop) {
    struct Enough {};
    int fed = 0;
    Clock::time_point start;
    const auto measured = [&](Feed feed) -> Feed {
        return [&, feed = std::move(feed)](Program& program, std::uint64_t number) {
            if (fed == 2) throw Enough();
            ++fed;
            start = Clock::now();
            feed(program, number);
        };
    };
    try {
        loop.evaluate(measured);
    } catch (const Enough&) {
    }
    return seconds_since(start);
}

std::string seconds_text(double seconds) {
    return seconds < 100 ? fixed(seconds, 3) + " s" : duration_text(seconds);
}

}  // namespace

void dry_run(Trainer& trainer, const TrainLoop& loop, std::int64_t device_bytes, const std::string& trace,
             const Common& common) {
    const bool phases = loop.phases.size() > 1;
    const double step = loop.steps > 0 ? seconds_of_steps(trainer, loop) / static_cast<double>(loop.steps)
                                       : seconds_of_step(trainer, loop, 0, TIMED - 1);
    const double evaluation = seconds_of_evaluation_batch(loop) * static_cast<double>(loop.eval_batches);
    const std::int64_t evaluations = 1 + (loop.steps + loop.eval_interval - 1) / loop.eval_interval;
    const double whole = step * static_cast<double>(loop.steps) + evaluation * static_cast<double>(evaluations);
    const std::int64_t parameters = trainer.parameters().count();
    const std::int64_t trained = count(trainer.parameters().trained());
    const auto host_bytes = static_cast<double>(peak_memory());
    if (!trace.empty()) write_trace(trainer, loop, trace, common);
    if (common.json)
        return print_json({{"parameters", parameters},
                           {"trained_parameters", trained},
                           {"device_bytes", device_bytes},
                           {"host_bytes", host_bytes},
                           {"steps", loop.steps},
                           {"evaluations", evaluations},
                           {"seconds_per_step", step},
                           {"seconds_per_evaluation", evaluation},
                           {"seconds", whole}});
    print(table({{"dry run", ""},
                 {"parameters", count_text(static_cast<double>(parameters))},
                 {"of these trained", count_text(static_cast<double>(trained))},
                 {"device memory", bytes_text(static_cast<double>(device_bytes))},
                 {"host memory", bytes_text(host_bytes) + ", with a CPU device's"},
                 {"step", text(seconds_text(step), phases ? " on average, " : ", ", loop.steps, " of them")},
                 {"evaluation", text(seconds_text(evaluation), ", ", evaluations, " of them")},
                 {"whole run", duration_text(whole)}}));
}

}  // namespace vkf
