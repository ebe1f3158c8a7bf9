#include "apps/train/train_loop.h"

#include <chrono>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "base/error.h"
#include "base/text/json_text.h"
#include "base/text/plain_text.h"
#include "models/files/weights.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

/// Measures the time since its construction.
class Timer {
public:
    /// True if there is a limit, and it is over.
    bool past(double minutes) const { return minutes > 0 && seconds() >= 60 * minutes; }
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Error naming the step that has a number that is not finite.
Error at_step(std::int64_t step, const NotFinite& found) {
    return Error("step ", step, ": ", found.what(), "; nothing of it was saved");
}

/// The loop's feed, which also stops at Ctrl-C.
Feed interruptible(const TrainLoop& loop) {
    return [&loop](Program& program, std::uint64_t number) {
        stop_if_interrupted();
        loop.feed(program, number);
    };
}

Evaluation evaluate(const TrainLoop& loop, std::int64_t step, const Common& common) {
    Progress progress(common, text("evaluation at step ", step), "batches", loop.eval_batches);
    std::int64_t done = 0;
    return loop.evaluate([&](Feed feed) -> Feed {
        return [&, feed = std::move(feed)](Program& program, std::uint64_t number) {
            stop_if_interrupted();
            progress.update(done++);
            feed(program, number);
        };
    });
}

/// Writes the checkpoint. Throws NotFinite.
void write(const Trainer& trainer, RunDirectory& run, const RunProgress& at, Progress& progress) {
    if (const std::string others = run.save(trainer, at); !others.empty())
        progress.line(text((run.path() / others).string(), " is there and not of this run: it stays as it is"));
}

/// Writes the checkpoint. Throws Error naming the step if a number is not finite.
void save(const Trainer& trainer, RunDirectory& run, const RunProgress& at, Progress& progress) try {
    write(trainer, run, at, progress);
} catch (const NotFinite& found) {
    throw at_step(at.step, found);
}

/// Evaluates, keeps the best model and writes the checkpoint.
void checkpoint(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress& at, Progress& progress,
                const Common& common) try {
    const Evaluation found = evaluate(loop, at.step, common);
    if (!run.begun()) write(trainer, run, at, progress);  // creates the first checkpoint, and the log
    ordered_json line{{"step", at.step}};
    line.update(found.metrics);
    if (loop.sample) line["sample"] = plain_text(loop.sample(at.step));
    run.log(line);
    for (const std::string& words : found.lines) progress.line(text("step ", at.step, ": ", words));
    if (loop.sample) progress.line(text("step ", at.step, ": ", line["sample"].get<std::string>()));
    if (at.take_score(found.score)) run.save_best(trainer, at);
    write(trainer, run, at, progress);
} catch (const NotFinite& found) {
    throw at_step(at.step, found);
}

/// Saves the run after Ctrl-C, unless it has no checkpoint yet and would replace another run.
void keep(Trainer& trainer, RunDirectory& run, const RunProgress& at, Progress& progress) {
    if (!run.begun() && run.replaces())
        return progress.line(text("interrupted before the first checkpoint; ", run.path().string(), " is as it was"));
    save(trainer, run, at, progress);
    progress.line(text("interrupted at step ", at.step, "; go on with --resume"));
}

/// A step's line of metrics.jsonl, numbers rounded to meaningful digits.
ordered_json metrics(const TrainLoop& loop, const Trainer& trainer, std::int64_t step, const StepResult& result,
                     std::int64_t outliers, double rate, double seconds) {
    ordered_json line{{"step", step}, {"loss", result.loss}, {"lr", rate}, {"grad_norm", result.grad_norm}};
    if (result.loss_scale) line["loss_scale"] = *result.loss_scale;
    if (result.norm_z_score) {
        line["grad_norm_z_score"] = *result.norm_z_score;
        line["outliers"] = outliers;
    }
    line["ms"] = std::round(seconds * 1e6) / 1e3;
    line[std::string(loop.items) + "_per_s"] = std::round(loop.items_in_step(step) / seconds);
    if (loop.peak_gflops > 0) line["share_of_peak"] = trainer.flops(step) / seconds / (1e9 * loop.peak_gflops);
    return line;
}

/// Throws Error if training cannot go on from this step. A skipped step is harmless, until the scale is so small that
/// the overflow is not due to scaling.
void require_finite(Trainer& trainer, const TrainLoop& loop, std::int64_t step, const StepResult& result) {
    if (result.skipped && *result.loss_scale >= 1) return;
    if (!result.skipped && std::isfinite(result.loss) && std::isfinite(result.grad_norm)) return;
    const std::string source = trainer.find_non_finite(step, loop.feed);
    throw Error(
        "step ", step, ": the loss is ", result.loss, ", the gradient's norm ", result.grad_norm,
        result.skipped ? ", even without loss scaling: float16 may be too narrow, --half bfloat16 is wider" : "",
        source.empty() ? "" : "; the first number that is not finite: ", source);
}

/// Updates under way, at most two: while the device runs one, the host prepares the next and reports the last.
class Pipeline {
public:
    /// Counts skipped outliers in `at`.
    Pipeline(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress& at, Progress& progress)
        : trainer_(trainer), run_(run), loop_(loop), at_(at), progress_(progress), feed_(interruptible(loop)) {}

    void start(std::int64_t step) {
        if (rates_.empty()) since_ = Timer();
        const double rate = loop_.learning_rate(step);
        trainer_.start(step, rate, feed_);
        rates_.emplace_back(step, rate);
        if (rates_.size() == 2) report();
    }
    void drain() {
        while (!rates_.empty()) report();
    }

private:
    void report() {
        const auto [step, rate] = rates_.front();
        rates_.pop_front();
        const StepResult result = trainer_.finish();
        const double seconds = std::exchange(since_, Timer()).seconds();
        require_finite(trainer_, loop_, step, result);
        if (result.skipped)
            progress_.line(text("step ", step, ": skipped, ", std::isfinite(result.loss) ? "gradients" : "activations",
                                " overflow in float16; the loss scale is now ", *result.loss_scale));
        if (result.outlier) {
            ++at_.outliers;
            progress_.line(text("step ", step, ": skipped, the gradient's norm ", result.grad_norm, " is ",
                                fixed(*result.norm_z_score, 2), " standard deviations above that of the steps before"));
        }
        if (step % loop_.log_interval == 0)
            run_.log(metrics(loop_, trainer_, step, result, at_.outliers, rate, seconds));
        progress_.update(step + 1, text("loss ", fixed(result.loss, 4), ", ",
                                        std::llround(loop_.items_in_step(step) / seconds), ' ', loop_.items, "/s"));
    }

    Trainer& trainer_;
    RunDirectory& run_;
    const TrainLoop& loop_;
    RunProgress& at_;
    Progress& progress_;
    Feed feed_;
    std::deque<std::pair<std::int64_t, double>> rates_;  // steps and rates of the updates under way
    Timer since_;                                        // end of the last update, or begin of the first
};

/// Reason why there is nothing to do; or "".
std::string finished(const RunDirectory& run, const TrainLoop& loop, const RunProgress& at) {
    const std::string name = text("the run in ", run.path().string());
    if (at.step >= loop.steps && at.evaluated == at.step)
        return text(name, " is finished: ", at.step, " of ", loop.steps, " steps; a higher ", loop.steps_option,
                    " goes on");
    if (loop.limits.stops_early(at))
        return text(name, " stopped early, after ", at.without_improvement,
                    " evaluations without improvement; a higher --early-stopping-patience goes on");
    return {};
}

/// Logs a probe of the model before this step, if one is due.
void probe(RunDirectory& run, const TrainLoop& loop, std::int64_t step, Pipeline& pipeline) {
    if (loop.probe_interval == 0 || step % loop.probe_interval != 0) return;
    pipeline.drain();
    run.log({{"step", step}, {"probe", rounded(loop.probe())}});
}

/// Runs steps until the end or a limit; exceptions after Ctrl-C pass through.
void step_until_end(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress& at, Pipeline& pipeline,
                    Progress& progress, const Common& common) {
    const Timer begun;
    const std::int64_t first = at.step;  // runs even if an evaluation before it takes too long
    Timer saved;
    for (; at.step < loop.steps; ++at.step) {
        if (at.step % loop.eval_interval == 0 && at.evaluated != at.step) {
            pipeline.drain();
            checkpoint(trainer, run, loop, at, progress, common);
            saved = Timer();
            if (loop.limits.stops_early(at))
                return progress.line(text("stopped early at step ", at.step, ": ", at.without_improvement,
                                          " evaluations without improvement"));
        }
        const bool over = at.step > first && begun.past(loop.limits.max_minutes);
        if (over || saved.past(loop.limits.save_minutes)) {
            pipeline.drain();
            save(trainer, run, at, progress);
            saved = Timer();
        }
        if (over)
            return progress.line(text("stopped after --max-minutes ", loop.limits.max_minutes, " at step ", at.step,
                                      "; go on with --resume"));
        probe(run, loop, at.step, pipeline);
        pipeline.start(at.step);
        if (loop.change_interval > 0 && (at.step + 1) % loop.change_interval == 0) {
            pipeline.drain();
            loop.change(at.step);
        }
    }
    pipeline.drain();
    probe(run, loop, at.step, pipeline);
    if (at.evaluated != at.step) checkpoint(trainer, run, loop, at, progress, common);
}

}  // namespace

RunProgress run_training(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress at,
                         const Common& common) {
    if (const std::string why = finished(run, loop, at); !why.empty()) {
        note(common, why);
        return at;
    }
    Progress progress(common, "train", "step", loop.steps, at.step);
    Pipeline pipeline(trainer, run, loop, at, progress);
    catch_interrupts();
    try {
        step_until_end(trainer, run, loop, at, pipeline, progress, common);
    } catch (const Interrupted&) {
        pipeline.drain();
        keep(trainer, run, at, progress);
        throw;
    }
    return at;
}

}  // namespace vkf
