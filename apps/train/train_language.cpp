// vkformer train for a language model: data, model and evaluation; the loop is in train_loop.cpp.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/model.h"
#include "apps/tasks.h"
#include "apps/train/dry_run.h"
#include "apps/train/language_options.h"
#include "apps/train/run_part.h"
#include "apps/train/text_samples.h"
#include "apps/train/train_loop.h"
#include "apps/train/train_memory.h"
#include "base/error.h"
#include "models/data/dataset.h"
#include "models/files/adapter_files.h"
#include "models/files/config_json.h"
#include "models/files/held_files.h"
#include "models/language_model.h"
#include "models/masked_language_model.h"
#include "models/probes/attention_probe.h"
#include "models/train/token_feed.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Options of batches by number; `together` consecutive batches belong together.
Batches::Options batch_options(const LanguageRunOptions& o, const Objective& objective, const std::string& order,
                               std::int64_t together) {
    return {order_named(order), static_cast<std::size_t>(o.batch_size), static_cast<std::size_t>(o.block_size), o.seed,
            objective,          static_cast<std::size_t>(together)};
}

/// Set to evaluate on: a name, and the same batches each time.
struct LanguageEvalSet {
    std::string name;
    Batches batches;
};

/// Model to train: the initial model, or it with adapters, or a fresh model for the data's vocabulary.
ModelConfig model_config(const LanguageRunOptions& o, const std::optional<LanguageModel>& origin,
                         const TokenDataset& data) {
    const auto vocabulary = static_cast<std::int64_t>(data.vocabulary_size());
    const Tokenizer* tokenizer = data.tokenizer() ? data.tokenizer()->tokenizer.get() : nullptr;
    const ModelConfig c = origin ? o.adapted(origin->config) : o.fresh_model(vocabulary, tokenizer);
    validate(c);
    const Size context = c.size(Dimension::context), tokens = c.size(Dimension::vocab_size);
    require(o.block_size <= context, "--block-size ", o.block_size, " is more than the model's ", context.key, " ",
            context.value);
    require(vocabulary <= tokens, "the data has tokens up to ", vocabulary - 1, ", the model's vocabulary is ",
            tokens.value);
    return c;
}

/// Opens the other sets of --eval-data, in the model's tokens.
std::vector<TokenDataset> open_eval_data(const LanguageRunOptions& o, const LanguageModel& model) {
    std::vector<TokenDataset> list;
    for (const NamedPath& set : o.eval_data) list.push_back(open_data(model, set.path));
    return list;
}

std::vector<LanguageEvalSet> eval_sets(const LanguageRunOptions& o, const Objective& objective,
                                       const TokenDataset& data, const std::vector<TokenDataset>& others) {
    const Batches::Options options = batch_options(o, objective, o.eval_order, 1);
    std::vector<LanguageEvalSet> sets{{"val", {"eval-val", data.val(), options}}};
    if (o.eval_train) sets.push_back({"train", {"eval-train", data.train(), options}});
    for (std::size_t i = 0; i < others.size(); ++i) {
        const std::string& name = o.eval_data[i].name;
        sets.push_back({name, {"eval-" + name, others[i].val(), options}});
    }
    return sets;
}

/// Describes the files of a checkpoint: the whole model, or its adapters.
void describe(RunDirectory& run, const LanguageRunOptions& o, const ModelConfig& model,
              const std::optional<LanguageModel>& origin, const std::optional<SavedTokenizer>& tokenizer) {
    if (model.adapters()) {
        const std::string base = std::filesystem::absolute(origin->path).lexically_normal().string();
        return run.describe({{adapter_config_file, adapter_config_text(model, base)}}, o.toml(), o.save_total_limit,
                            {adapter_weights_file, adapter_prefix(model.family()), adapter_config_file, false});
    }
    ModelFiles files{{"config.json", config_json_text(model)}};
    if (tokenizer) files.insert(tokenizer->files.begin(), tokenizer->files.end());
    if (origin) files.merge(origin->side_files());
    run.describe(std::move(files), o.toml(), o.save_total_limit);
}

/// "12000 parameters, 400 of them in adapters".
std::string sizes_of(const Parameters& parameters) {
    const std::int64_t all = parameters.count(), trained = count(parameters.trained());
    return text(all, " parameters", trained < all ? text(", ", trained, " of them in adapters") : "");
}

/// Losses of all sets and, with `accuracy`, the shares of right predictions, which a model with an objective outputs;
/// the validation loss decides which model is the best.
Evaluation evaluate(Trainer& trainer, const std::vector<LanguageEvalSet>& sets, std::int64_t batches, bool accuracy,
                    const Watch& watch) {
    Evaluation found;
    for (const LanguageEvalSet& set : sets) {
        Predictions predictions;
        std::vector<std::int32_t> targets;
        const Feed feed = [&](Program& program, std::uint64_t number) {
            const Batch batch = set.batches.at(number);
            write_batch(program, batch);
            targets = batch.at("targets");
        };
        const auto count = [&](Program& program) {
            if (accuracy) predictions.add(program.read_ints("likeliest"), targets);
        };
        const double loss = trainer.evaluate(watch(feed), 0, batches, count);
        found.metrics[set.name + "_loss"] = loss;
        std::string line = text(set.name, " loss ", fixed(loss, 4));
        if (accuracy) {
            found.metrics[set.name + "_accuracy"] = predictions.accuracy();
            line += ", accuracy " + percent_text(predictions.accuracy());
        }
        if (set.name == "val") found.score = loss;
        if (set.name == "train")  // one line for the run's own data
            found.lines.front() = line + ", " + found.lines.front();
        else
            found.lines.push_back(std::move(line));
    }
    return found;
}

void train_language(const LanguageRunOptions& o, const Common& common) {
    std::optional<RunDirectory> run;
    if (o.resume)
        run = RunDirectory::reopen(o.out_dir);
    else
        require_free(o.out_dir, o.overwrite, {o.data});  // same check as in create(), before the long part
    require(!o.data.empty(),
            "--data is missing: a directory with train.bin and val.bin or shards, a token file, or text");
    std::optional<LanguageModel> origin;
    if (!o.origin().empty()) origin = open_language_model({o.origin(), {}, o.verify});
    const TokenDataset data = origin ? open_data(*origin, o.data) : TokenDataset::open(o.data);
    const std::optional<SavedTokenizer>& tokenizer = origin ? origin->tokenizer : data.tokenizer();
    const ModelConfig model = model_config(o, origin, data);
    if (model.adapters() && !o.resume) require_apart(o.out_dir, origin->path);
    const Objective objective =
        language_objective(model, special_tokens(tokenizer ? tokenizer->tokenizer.get() : nullptr));
    const Batches training("train", data.train(),
                           batch_options(o, objective, o.order, o.trainer.gradient_accumulation_steps));
    const std::vector<TokenDataset> others = open_eval_data(o, {{o.out_dir, model}, tokenizer});
    const std::vector<LanguageEvalSet> sets = eval_sets(o, objective, data, others);  // the first is "val"
    with_device(common, [&](Device& device) {
        const auto loss = [&](std::int64_t rows, bool evaluation) {
            return [&, rows, evaluation](const Scope& scope) {
                return evaluation ? language_evaluation(scope, model, rows, o.block_size)
                                  : language_loss(scope, model, rows, o.block_size, o.loss_terms);
            };
        };
        const std::int64_t bytes = require_memory(device, o, loss);
        Trainer trainer(device, loss(o.batch_size, false), loss(o.batch_size, true), o.trainer);
        RunProgress at;
        if (run) {
            if (model.adapters()) origin->load_frozen(trainer.parameters(), trainer.state());
            describe(*run, o, model, origin, tokenizer);
            at = run->restore(trainer);
        } else if (origin) {
            origin->config = model;
            origin->load(trainer.parameters(), trainer.state());
            trainer.begin_averages();
        }
        std::optional<AttentionProbe> probe;
        if (o.probe_interval > 0) probe.emplace(trainer, loss(o.batch_size, true), model);
        std::optional<TextSamples> samples;
        if (o.sample_tokens > 0 && !o.dry_run)
            samples.emplace(device, trainer, model, o.trainer.activations,
                            tokenizer ? tokenizer->tokenizer.get() : nullptr,
                            TextSamples::Options{o.sample_tokens, o.sample_prompt, o.seed});
        TrainLoop loop{
            .steps = o.max_iters,
            .steps_option = "--max-iters",
            .eval_interval = o.eval_interval,
            .log_interval = o.log_interval,
            .limits = o.limits,
            .items = "tokens",
            .items_in_step =
                [&](std::int64_t) {
                    return static_cast<double>(o.batch_size * o.block_size * o.trainer.gradient_accumulation_steps);
                },
            .peak_gflops = o.peak_gflops,
            .learning_rate = [&](std::int64_t step) { return o.schedule.at(step); },
            .feed = o.training_feed(feed_of(training), o.max_iters),
            .eval_batches = std::ssize(sets) * o.eval_iters,
            .evaluate =
                [&](const Watch& watch) { return evaluate(trainer, sets, o.eval_iters, bool(objective), watch); },
            .probe_interval = o.probe_interval,
            .probe = [&] { return probe_document(probe->read(feed_of(sets.front().batches))); }};
        if (samples) loop.sample = [&](std::int64_t step) { return samples->draw(step); };
        if (o.dry_run) return dry_run(trainer, loop, bytes, o.trace, common);
        if (!run) {
            run = RunDirectory::create(o.out_dir, o.overwrite, o.data);
            describe(*run, o, model, origin, tokenizer);
        }
        note(common, text(sizes_of(trainer.parameters()), ", ", model.attention().title(), " attention, on ",
                          device.info().name, "; ", data.train().size(), " tokens"));
        run->introduce(run_part(common, device.info(), trainer.parameters().count()));
        at = run_training(trainer, *run, loop, at, common);
        if (common.json) print_json({{"out_dir", o.out_dir}, {"steps", at.step}, {"best_val_loss", at.best}});
    });
}

}  // namespace

void add_train_language(cli::Command& train, Common& common, const Family& family) {
    const std::string command(family.command);
    cli::Command& app = train.add_subcommand(command, text("Train a ", family.title, " on text or token files"));
    add_common(app, common);
    auto options = std::make_shared<LanguageRunOptions>(family);
    options->declare(app);
    app.footer(train_examples(family, "--data input.txt"));
    app.callback([options, &common] {
        options->resolve(common);
        options->load_origin(common);
        options->check();
        train_language(*options, common);
    });
}

}  // namespace vkf
