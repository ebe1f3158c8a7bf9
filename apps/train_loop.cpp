#include "apps/train_loop.h"

#include <chrono>
#include <cmath>

#include "apps/progress.h"
#include "base/error.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Evaluates, keeps the best model and writes the checkpoint.
void checkpoint(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress& at, Progress& progress) {
    const Evaluation found = loop.evaluate();
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
}

/// The step's line of metrics.jsonl, numbers rounded to what they can mean.
ordered_json metrics(const TrainLoop& loop, std::int64_t step, const StepResult& result, double rate, double seconds) {
    return {{"step", step},
            {"loss", result.loss},
            {"lr", rate},
            {"grad_norm", result.grad_norm},
            {"ms", std::round(seconds * 1e6) / 1e3},
            {std::string(loop.items) + "_per_s", std::round(loop.items_per_step / seconds)}};
}

}  // namespace

RunProgress run_training(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress at,
                         const Common& common) {
    Progress progress(common, "train", "step", loop.steps, at.step);
    catch_interrupts();
    for (; at.step < loop.steps; ++at.step) {
        if (at.step % loop.eval_interval == 0 && at.evaluated != at.step) checkpoint(trainer, run, loop, at, progress);
        if (interrupted()) {
            run.save(trainer, at);
            progress.line(text("interrupted at step ", at.step, "; go on with --resume"));
            throw Interrupted{};
        }
        const auto start = std::chrono::steady_clock::now();
        const double rate = loop.learning_rate(at.step);
        const StepResult result = trainer.step(at.step, rate, loop.feed);
        const double seconds = seconds_since(start);
        if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm))
            throw Error("step ", at.step, ": the loss is ", result.loss, ", the gradient's norm ", result.grad_norm,
                        "; the first number that is not finite: ", trainer.find_non_finite());
        if (at.step % loop.log_interval == 0) run.log(metrics(loop, at.step, result, rate, seconds));
        progress.update(at.step + 1, text("loss ", fixed(result.loss, 4), ", ",
                                          std::llround(loop.items_per_step / seconds), ' ', loop.items, "/s"));
    }
    if (at.evaluated != at.step) checkpoint(trainer, run, loop, at, progress);
    return at;
}

}  // namespace vkf
