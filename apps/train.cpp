// vkformer train gpt: options, and the loop itself.

#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/progress.h"
#include "apps/train_options.h"
#include "base/error.h"
#include "models/data/dataset.h"
#include "models/files/gpt2_config.h"
#include "models/files/weights.h"
#include "models/train/run_directory.h"
#include "models/train/schedule.h"
#include "models/train/token_feed.h"
#include "models/train/trainer.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

std::string fixed(double value, int digits) {
    std::ostringstream stream;
    stream << std::fixed << std::setprecision(digits) << value;
    return stream.str();
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Where a run's data comes from: batches by number for the two splits, and the same ones at every evaluation.
struct Splits {
    Batches train, eval_train, eval_val;

    Splits(const TokenDataset& data, const TrainOptions& o)
        : train("train", data.train(), {order_named(o.order), rows(o), length(o), o.seed}),
          eval_train("eval-train", data.train(), {Order::random, rows(o), length(o), o.seed}),
          eval_val("eval-val", data.val(), {Order::random, rows(o), length(o), o.seed}) {}

    static std::size_t rows(const TrainOptions& o) { return static_cast<std::size_t>(o.batch_size); }
    static std::size_t length(const TrainOptions& o) { return static_cast<std::size_t>(o.block_size); }
};

/// Evaluates, keeps the best model and writes the checkpoint.
void checkpoint(Trainer& trainer, RunDirectory& run, const Splits& splits, const TrainOptions& o, RunProgress& at,
                Progress& progress) {
    const double train_loss = trainer.evaluate(feed_of(splits.eval_train), 0, o.eval_iters);
    const double val_loss = trainer.evaluate(feed_of(splits.eval_val), 0, o.eval_iters);
    run.log(ordered_json{{"step", at.step}, {"train_loss", train_loss}, {"val_loss", val_loss}});
    progress.line(text("step ", at.step, ": train loss ", fixed(train_loss, 4), ", val loss ", fixed(val_loss, 4)));
    at.evaluated = at.step;
    if (val_loss < at.best_val_loss) {
        at.best_val_loss = val_loss;
        run.save_best(trainer);
    }
    run.save(trainer, at);
}

/// The step's line of metrics.jsonl, numbers rounded to what they can mean.
ordered_json metrics(std::int64_t step, const StepResult& result, double rate, double seconds, double tokens) {
    return {{"step", step},
            {"loss", result.loss},
            {"lr", rate},
            {"grad_norm", result.grad_norm},
            {"ms", std::round(seconds * 1e6) / 1e3},
            {"tokens_per_s", std::round(tokens / seconds)}};
}

/// Steps until max_iters; returns where the run then stands.
RunProgress train_loop(Trainer& trainer, RunDirectory& run, const Splits& splits, const TrainOptions& o, RunProgress at,
                       Progress& progress) {
    const double tokens = static_cast<double>(o.batch_size * o.block_size * o.trainer.gradient_accumulation_steps);
    const Feed feed = feed_of(splits.train);
    for (; at.step < o.max_iters; ++at.step) {
        if (at.step % o.eval_interval == 0 && at.evaluated != at.step)
            checkpoint(trainer, run, splits, o, at, progress);
        if (interrupted()) {
            run.save(trainer, at);
            progress.line(text("interrupted at step ", at.step, "; go on with --resume"));
            throw Interrupted{};
        }
        const auto start = std::chrono::steady_clock::now();
        const double rate = o.schedule.at(at.step);
        const StepResult result = trainer.step(at.step, rate, feed);
        const double seconds = seconds_since(start);
        if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm))
            throw Error("step ", at.step, ": the loss is ", result.loss, ", the gradient's norm ", result.grad_norm,
                        "; the first number that is not finite: ", trainer.find_non_finite());
        if (at.step % o.log_interval == 0) run.log(metrics(at.step, result, rate, seconds, tokens));
        progress.update(at.step + 1,
                        text("loss ", fixed(result.loss, 4), ", ", std::llround(tokens / seconds), " tokens/s"));
    }
    if (at.evaluated != at.step) checkpoint(trainer, run, splits, o, at, progress);
    return at;
}

/// Where the starting weights come from: nowhere, --init-from, or the run itself.
std::filesystem::path origin(const TrainOptions& o) {
    return o.resume ? o.out_dir : o.init_from;
}

/// The data, in the characters of the model it is for, if that has a vocabulary of its own.
std::pair<TokenDataset, std::optional<Characters>> open_data(const TrainOptions& o) {
    const std::filesystem::path vocabulary = origin(o) / "chars.json";
    if (origin(o).empty() || !std::filesystem::exists(vocabulary)) {
        TokenDataset data = TokenDataset::open(o.data);
        std::optional<Characters> characters = data.characters();
        return {std::move(data), std::move(characters)};
    }
    Characters characters = Characters::load(vocabulary);
    TokenDataset data = TokenDataset::open(o.data, [&](std::string_view words) { return characters.encode(words); });
    return {std::move(data), std::move(characters)};
}

/// The model to train: a known one's configuration, or a fresh one for the data's vocabulary.
Gpt2Config model_config(const TrainOptions& o, const TokenDataset& data) {
    const auto vocabulary = static_cast<std::int64_t>(data.vocabulary_size());
    const Gpt2Config c = origin(o).empty() ? o.fresh_model(vocabulary) : read_gpt2_config(origin(o) / "config.json");
    validate(c);
    require(o.block_size <= c.n_positions, "--block-size ", o.block_size, " is more than the model's n_positions ",
            c.n_positions);
    require(vocabulary <= c.vocab_size, "the data has tokens up to ", vocabulary - 1, ", the model's vocabulary is ",
            c.vocab_size);
    return c;
}

void train_gpt(const TrainOptions& o, const Common& common) {
    std::optional<RunDirectory> run;
    if (o.resume) run = RunDirectory::reopen(o.out_dir);
    const auto opened = open_data(o);
    const TokenDataset& data = opened.first;
    const std::optional<Characters>& characters = opened.second;
    const Splits splits(data, o);
    const Gpt2Config model = model_config(o, data);
    with_device(common, [&](Device& device) {
        const auto loss = [&](const Scope& scope) { return gpt2_loss(scope, model, o.batch_size, o.block_size); };
        Trainer trainer(device, loss, loss, o.trainer);
        RunProgress at;
        if (run)
            at = run->restore(trainer);
        else if (!o.init_from.empty())
            load_weights(origin(o) / "model.safetensors", trainer.parameters().list(), "transformer.", trainer.state());
        if (!run) run = RunDirectory::create(o.out_dir, o.overwrite);
        run->describe(gpt2_config_text(model), o.toml(), characters ? &*characters : nullptr);
        note(common, text(trainer.parameters().count(), " parameters, ", model.attention.variant, " attention, on ",
                          device.info().name, "; ", data.train().size(), " tokens"));
        Progress progress(common, "train", "step", o.max_iters, at.step);
        catch_interrupts();
        at = train_loop(trainer, *run, splits, o, at, progress);
        if (common.json)
            print_json(
                ordered_json{{"out_dir", o.out_dir}, {"steps", o.max_iters}, {"best_val_loss", at.best_val_loss}});
    });
}

}  // namespace

void add_train(CLI::App& app, Common& common) {
    CLI::App* train = app.add_subcommand("train", "Train a model")->require_subcommand(1);
    CLI::App* gpt = train->add_subcommand("gpt", "Train a GPT-2 on text or token files");
    add_common(*gpt, common);
    auto options = std::make_shared<TrainOptions>();
    options->declare(*gpt);
    gpt->footer(
        "Examples:\n"
        "  vkformer train gpt --config configs/shakespeare-char-cpu.toml --data input.txt --out-dir out\n"
        "  vkformer train gpt --config configs/shakespeare-char-cpu.toml --data input.txt --attention belief-star\n"
        "  vkformer train gpt --out-dir out --resume");
    gpt->callback([options, &common] {
        options->seed = common.seed;
        options->check();
        train_gpt(*options, common);
    });
}

}  // namespace vkf
