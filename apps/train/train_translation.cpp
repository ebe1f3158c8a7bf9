// vkformer train for a translation model: data, model and evaluation; the loop is in train_loop.cpp.

#include <algorithm>
#include <cmath>
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
#include "apps/train/evaluation_sets.h"
#include "apps/train/run_part.h"
#include "apps/train/train_loop.h"
#include "apps/train/train_memory.h"
#include "apps/train/translation_options.h"
#include "base/error.h"
#include "base/integers.h"
#include "models/data/pairs/pair_batches.h"
#include "models/data/text/text.h"
#include "models/files/config_json.h"
#include "models/files/held_files.h"
#include "models/probes/attention_probe.h"
#include "models/train/token_feed.h"
#include "models/translation_model.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Pairs of a set, and their batches.
struct PairSet {
    std::string name;
    SentencePairs pairs;
    PairBatches batches;

    PairSet(std::string set, const ParallelText& text, const TranslationModel& model,
            const PairBatches::Options& options)
        : name(std::move(set)),
          pairs(text, *model.tokenizers.source, *model.tokenizers.target, translation_tokens(model.config).end,
                model.config.size(Dimension::context)),
          batches(name, pairs, translation_tokens(model.config).begin, options) {}
};

LossGraphs evaluation_losses(const EvaluationSets<PairSet>& sets, const ModelConfig& model) {
    return sets.losses(
        [&](const PairShape& shape) {
            return [&model, shape](const Scope& scope) { return translation_loss(scope, model, shape); };
        },
        [](const PairSet& set, std::uint64_t number) { return static_cast<double>(set.batches.targets(number)); });
}

/// Mean loss of every target token, and perplexity, of each set; the first set decides which model is the best.
Evaluation evaluate(Trainer& trainer, const EvaluationSets<PairSet>& sets, const Watch& watch) {
    Evaluation found;
    std::uint64_t first = 0;
    for (const auto& set : sets.all()) {
        const double loss =
            trainer.evaluate(watch(sets.feed()), first, static_cast<std::int64_t>(set->batches.count()));
        first += set->batches.count();
        found.metrics[set->name + "_loss"] = loss;
        found.lines.push_back(text(set->name, " loss ", fixed(loss, 4), ", perplexity ", fixed(std::exp(loss), 2)));
        if (set == sets.all().front()) found.score = loss;
    }
    return found;
}

/// Moves the last 5 % of the pairs, at least one, into a text of their own.
ParallelText split_validation(ParallelText& text) {
    const std::size_t all = text.source.size(), kept = all - std::max<std::size_t>(1, all / 20);
    require(kept > 0, text.source_name, ": has one pair of sentences, wanted more, or --val-source and --val-target");
    ParallelText rest{{}, {}, text.source_name, text.target_name};
    const auto move = [&](std::vector<std::string>& from, std::vector<std::string>& to) {
        const auto first = from.begin() + static_cast<std::ptrdiff_t>(kept);
        to.assign(std::make_move_iterator(first), std::make_move_iterator(from.end()));
        from.erase(first, from.end());
    };
    move(text.source, rest.source);
    move(text.target, rest.target);
    return rest;
}

/// One vocabulary of all characters in these texts.
PairTokenizers characters_of(const std::vector<const ParallelText*>& texts) {
    std::string all;
    for (const ParallelText* text : texts)
        for (const auto* side : {&text->source, &text->target})
            for (const std::string& sentence : *side) all += sentence;
    const auto characters = std::make_shared<const Characters>(Characters::of(all));
    const SavedTokenizer saved{characters, "chars.json", {{"chars.json", characters->json()}}};
    return {saved, saved};
}

/// Model to train: the initial model, or a fresh one for the tokenizers.
TranslationModel model_of(const TranslationRunOptions& o, const std::vector<const ParallelText*>& texts) {
    if (!o.origin().empty()) return open_translation_model({o.origin(), {}, o.verify});
    const PairTokenizers tokenizers = o.given_tokenizers() ? *o.given_tokenizers() : characters_of(texts);
    TranslationModel made{{{}, o.fresh_model(translation_tokens(tokenizers))}, tokenizers};
    validate(made.config);
    return made;
}

/// Reads a set of pairs; notes how many are left out.
std::unique_ptr<PairSet> pair_set(const Common& common, std::string name, const ParallelText& text,
                                  const TranslationModel& model, const PairBatches::Options& options) {
    auto set = std::make_unique<PairSet>(std::move(name), text, model, options);
    if (text.skipped > 0) note(common, vkf::text(text.source_name, ": ", text.skipped, " empty pairs are left out"));
    if (const std::size_t count = set->pairs.too_long(); count > 0)
        note(common, vkf::text(text.source_name, ": ", count, " of ", text.source.size(), " pairs have more than ",
                               model.config.size(Dimension::context).value, " tokens and are left out"));
    return set;
}

void train_translation(const TranslationRunOptions& o, const Common& common) {
    std::optional<RunDirectory> run;
    if (o.resume)
        run = RunDirectory::reopen(o.out_dir);
    else
        require_free(o.out_dir, o.overwrite, {o.training.name()});
    const PairKeys keys = pair_keys(o.fields);
    ParallelText training = o.training.read(keys);
    const ParallelText validation = o.validation.given() ? o.validation.read(keys) : split_validation(training);
    TranslationModel model = model_of(o, {&training, &validation});
    const PairBatches::Options how{.tokens = o.batch_size, .buckets = as_index(o.buckets), .seed = o.seed};
    PairBatches::Options in_order = how;
    in_order.shuffled = false;
    const std::unique_ptr<PairSet> training_set = pair_set(common, "train", training, model, how);
    const PairSet& train = *training_set;
    EvaluationSets<PairSet> evaluations;
    evaluations.add(pair_set(common, "val", validation, model, in_order));
    for (const NamedPath& set : o.eval_data)
        evaluations.add(pair_set(common, set.name, read_pair_file(set.path, keys), model, in_order));
    with_device(common, [&](Device& device) {
        LossGraphs losses;
        for (const PairShape& shape : train.batches.shapes())
            losses.shapes.push_back(
                [&, shape](const Scope& scope) { return translation_loss(scope, model.config, shape, o.loss_terms); });
        const std::int64_t micro_steps = o.trainer.gradient_accumulation_steps;
        const auto batch_of = [&](std::uint64_t number) {
            return o.overfit_one_batch ? number % static_cast<std::uint64_t>(micro_steps) : number;
        };
        losses.shape_of = [&](std::uint64_t number) { return train.batches.shape_of(batch_of(number)); };
        const PairShape widest = train.batches.shapes().back();
        const std::int64_t bytes = require_memory(device, o, [&](std::int64_t tokens, bool) -> LossGraph {
            PairShape shape = widest;
            shape.rows = std::max<std::int64_t>(1, shape.rows * tokens / o.batch_size);
            return
                [&, shape](const Scope& scope) { return translation_loss(scope, model.config, shape, o.loss_terms); };
        });
        Trainer trainer(device, losses, evaluation_losses(evaluations, model.config), o.trainer);
        const auto describe = [&](RunDirectory& made) {
            ModelFiles files{{"config.json", config_json_text(model.config)}};
            files.merge(model.side_files());
            made.describe(std::move(files), o.toml(), o.save_total_limit);
        };
        RunProgress at;
        if (run) {
            describe(*run);
            at = run->restore(trainer);
        } else if (!o.origin().empty()) {
            model.load(trainer.parameters(), trainer.state());
            trainer.begin_averages();
        }
        std::optional<AttentionProbe> probe;
        if (o.probe_interval > 0) {
            const LossGraphs all = evaluation_losses(evaluations, model.config);
            probe.emplace(trainer, all.shapes.at(all.shape_of(0)), model.config);
        }
        const TrainLoop loop{
            .steps = o.max_iters,
            .steps_option = "--max-iters",
            .eval_interval = o.eval_interval,
            .log_interval = o.log_interval,
            .limits = o.limits,
            .items = "target_tokens",
            .items_in_step =
                [&](std::int64_t step) {
                    std::int64_t sum = 0;
                    for (std::int64_t i = 0; i < micro_steps; ++i)
                        sum += train.batches.targets(batch_of(static_cast<std::uint64_t>(step * micro_steps + i)));
                    return static_cast<double>(sum);
                },
            .peak_gflops = o.peak_gflops,
            .learning_rate = [&](std::int64_t step) { return o.schedule.at(step); },
            .feed = o.training_feed(
                [&](Program& program, std::uint64_t number) { write_batch(program, train.batches.at(number)); },
                o.max_iters),
            .eval_batches = static_cast<std::int64_t>(evaluations.count()),
            .evaluate = [&](const Watch& watch) { return evaluate(trainer, evaluations, watch); },
            .probe_interval = o.probe_interval,
            .probe = [&] { return probe_document(probe->read(evaluations.feed())); }};
        if (o.dry_run) return dry_run(trainer, loop, bytes, o.trace, common);
        if (!run) {
            run = RunDirectory::create(o.out_dir, o.overwrite, o.training.name());
            describe(*run);
        }
        const std::string variant =
            model.config.has_attention() ? text(model.config.attention().title(), " attention, ") : "";
        note(common,
             text(trainer.parameters().count(), " parameters, ", variant, "on ", device.info().name, "; ",
                  train.pairs.size(), " pairs in ", train.batches.count(), " batches of ",
                  train.batches.shapes().size(), " shapes, ", percent_text(train.batches.padding()), " padding"));
        run->introduce(run_part(common, device.info(), trainer.parameters().count()));
        at = run_training(trainer, *run, loop, at, common);
        if (common.json) print_json({{"out_dir", o.out_dir}, {"steps", at.step}, {"best_val_loss", at.best}});
    });
}

}  // namespace

void add_train_translation(cli::Command& train, Common& common, const Family& family) {
    cli::Command& app = train.add_subcommand(std::string(family.command),
                                             text("Train an ", family.title, " on sentences and their translations"));
    add_common(app, common);
    auto options = std::make_shared<TranslationRunOptions>(family);
    options->declare(app);
    app.footer(train_examples(family, "--source train.en --target train.de --tokenizer bpe.codes"));
    app.callback([options, &common] {
        options->resolve(common);
        options->load_origin(common);
        options->check_data();
        options->check();
        train_translation(*options, common);
    });
}

}  // namespace vkf
