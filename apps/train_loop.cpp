#include "apps/train_loop.h"

#include <chrono>
#include <cmath>
#include <deque>
#include <utility>

#include "apps/interrupts.h"
#include "apps/progress.h"
#include "base/error.h"
#include "models/files/weights.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Says which step it was where a number is not finite.
Error at_step(std::int64_t step, const NotFinite& found) {
    return Error("step ", step, ": ", found.what(), "; nothing of it was saved");
}

/// The loop's feed, but for Ctrl-C.
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

/// Evaluates, keeps the best model and writes the checkpoint.
void checkpoint(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress& at, Progress& progress,
                const Common& common) try {
    const Evaluation found = evaluate(loop, at.step, common);
    if (!run.begun()) run.save(trainer, at);  // there is something to keep, and to log to
    ordered_json line{{"step", at.step}};
    line.update(found.metrics);
    run.log(line);
    progress.line(text("step ", at.step, ": ", found.words));
    at.evaluated = at.step;
    if (found.score < at.best) {
        at.best = found.score;
        run.save_best(trainer);
    }
    run.save(trainer, at);
} catch (const NotFinite& found) {
    throw at_step(at.step, found);
}

/// Ctrl-C: the run is kept as it stands, unless that would only take another's place.
void keep(Trainer& trainer, RunDirectory& run, const RunProgress& at, Progress& progress) try {
    if (!run.begun() && run.replaces())
        return progress.line(text("interrupted before the first checkpoint; ", run.path().string(), " is as it was"));
    run.save(trainer, at);
    progress.line(text("interrupted at step ", at.step, "; go on with --resume"));
} catch (const NotFinite& found) {
    throw at_step(at.step, found);
}

/// The step's line of metrics.jsonl, numbers rounded to what they can mean.
ordered_json metrics(const TrainLoop& loop, std::int64_t step, const StepResult& result, double rate, double seconds) {
    ordered_json line{{"step", step}, {"loss", result.loss}, {"lr", rate}, {"grad_norm", result.grad_norm}};
    if (result.loss_scale) line["loss_scale"] = *result.loss_scale;
    line["ms"] = std::round(seconds * 1e6) / 1e3;
    line[std::string(loop.items) + "_per_s"] = std::round(loop.items_per_step / seconds);
    return line;
}

/// Throws Error if training cannot go on from this step. A skipped one has done no harm, until the scale is so small
/// that it is not the scaling that overflows.
void require_finite(Trainer& trainer, const TrainLoop& loop, std::int64_t step, const StepResult& result) {
    if (result.skipped && *result.loss_scale >= 1) return;
    if (!result.skipped && std::isfinite(result.loss) && std::isfinite(result.grad_norm)) return;
    const std::string source = trainer.find_non_finite(step, loop.feed);
    throw Error(
        "step ", step, ": the loss is ", result.loss, ", the gradient's norm ", result.grad_norm,
        result.skipped ? ", even without loss scaling: float16 may be too narrow, --half bfloat16 is wider" : "",
        source.empty() ? "" : "; the first number that is not finite: ", source);
}

/// The updates under way, two at most: while the device makes one, the host prepares the next and reports the last.
class Pipeline {
public:
    Pipeline(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, Progress& progress)
        : trainer_(trainer), run_(run), loop_(loop), progress_(progress), feed_(interruptible(loop)) {}

    void start(std::int64_t step) {
        if (rates_.empty()) since_ = std::chrono::steady_clock::now();
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
        const double seconds = seconds_since(std::exchange(since_, std::chrono::steady_clock::now()));
        require_finite(trainer_, loop_, step, result);
        if (result.skipped)
            progress_.line(text("step ", step, ": skipped, ", std::isfinite(result.loss) ? "gradients" : "activations",
                                " overflow in float16; the loss scale is now ", *result.loss_scale));
        if (step % loop_.log_interval == 0) run_.log(metrics(loop_, step, result, rate, seconds));
        progress_.update(step + 1, text("loss ", fixed(result.loss, 4), ", ",
                                        std::llround(loop_.items_per_step / seconds), ' ', loop_.items, "/s"));
    }

    Trainer& trainer_;
    RunDirectory& run_;
    const TrainLoop& loop_;
    Progress& progress_;
    Feed feed_;
    std::deque<std::pair<std::int64_t, double>> rates_;  // of the updates under way
    std::chrono::steady_clock::time_point since_;        // when the last one ended, or the first began
};

}  // namespace

RunProgress run_training(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress at,
                         const Common& common) {
    if (at.step >= loop.steps && at.evaluated == at.step) {
        note(common, text("the run in ", run.path().string(), " is finished: ", at.step, " of ", loop.steps,
                          " steps; a higher ", loop.steps_option, " goes on"));
        return at;
    }
    Progress progress(common, "train", "step", loop.steps, at.step);
    Pipeline pipeline(trainer, run, loop, progress);
    catch_interrupts();
    try {
        for (; at.step < loop.steps; ++at.step) {
            if (at.step % loop.eval_interval == 0 && at.evaluated != at.step) {
                pipeline.drain();
                checkpoint(trainer, run, loop, at, progress, common);
            }
            pipeline.start(at.step);
        }
        pipeline.drain();
        if (at.evaluated != at.step) checkpoint(trainer, run, loop, at, progress, common);
    } catch (const Interrupted&) {
        pipeline.drain();
        keep(trainer, run, at, progress);
        throw;
    }
    return at;
}

}  // namespace vkf
