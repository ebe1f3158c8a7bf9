// vkformer train for a sequence classifier: data, model and evaluation; the loop is in train_loop.cpp.

#include <algorithm>
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
#include "apps/train/sequence_options.h"
#include "apps/train/train_loop.h"
#include "apps/train/train_memory.h"
#include "base/error.h"
#include "base/integers.h"
#include "models/data/sequences/labelled_sequences.h"
#include "models/files/config_json.h"
#include "models/files/held_files.h"
#include "models/masked_language_model.h"
#include "models/probes/attention_probe.h"
#include "models/sequence_model.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Sequences of a set, and their batches.
struct SequenceSet {
    std::string name;
    LabelledSequences sequences;
    SequenceBatches batches;

    SequenceSet(std::string set, const LabelledTexts& texts, const SequenceModel& model, std::int64_t longest,
                const SequenceBatches::Options& options)
        : name(std::move(set)),
          sequences(texts, *model.tokenizer, model.config.class_names(), model.config.size(Dimension::classes),
                    longest),
          batches(name, sequences, options) {}
};

LossGraphs evaluation_losses(const EvaluationSets<SequenceSet>& sets, const ModelConfig& model) {
    return sets.losses(
        [&](const SequenceShape& shape) {
            return [&model, shape](const Scope& scope) { return sequence_evaluation(scope, model, shape); };
        },
        [](const SequenceSet& set, std::uint64_t number) {
            return static_cast<double>(set.batches.sequences(number));
        });
}

/// Loss without label smoothing, and accuracy, of each set; the first set's accuracy decides which model is the best.
Evaluation evaluate(Trainer& trainer, const EvaluationSets<SequenceSet>& sets, const Watch& watch) {
    Evaluation found;
    std::uint64_t first = 0;
    for (const auto& set : sets.all()) {
        Predictions predictions;
        std::vector<std::int32_t> targets;
        const Feed feed = [&](Program& program, std::uint64_t number) {
            const Batch batch = sets.at(number);
            write_batch(program, batch);
            targets = batch.at("targets");
        };
        const double loss =
            trainer.evaluate(watch(feed), first, static_cast<std::int64_t>(set->batches.count()),
                             [&](Program& program) { predictions.add(program.read_ints("likeliest"), targets); });
        first += set->batches.count();
        found.metrics[set->name + "_loss"] = loss;
        found.metrics[set->name + "_accuracy"] = predictions.accuracy();
        found.lines.push_back(
            text(set->name, " loss ", fixed(loss, 4), ", accuracy ", percent_text(predictions.accuracy())));
        if (set == sets.all().front()) found.score = 1 - predictions.accuracy();
    }
    return found;
}

/// Model to train: the initial model, or a fresh one for the texts.
SequenceModel model_of(const SequenceRunOptions& o, const LabelledTexts& training, const LabelledTexts& validation) {
    const auto classes_of_data = [&] {
        std::vector<std::string> classes = classes_of({&training, &validation});
        require(classes.size() > 1, "data ", o.data, ": has one class, '", classes.front(), "', wanted several");
        return classes;
    };
    if (!o.origin().empty()) {
        std::optional<SequenceModel> begun =
            o.resume ? std::nullopt : open_pretrained({o.init_from, {}, o.verify}, o.model);
        if (!begun) return open_sequence_model({o.origin(), {}, o.verify});
        std::vector<std::string> classes = classes_of_data();
        begun->config.set(Dimension::classes, std::ssize(classes));
        begun->config.set_class_names(std::move(classes));
        return std::move(*begun);
    }
    SavedTokenizer tokenizer = o.tokenizer_for(training.texts);
    std::vector<std::string> classes = classes_of_data();
    SequenceModel made{{{}, o.fresh_model(static_cast<std::int64_t>(tokenizer->size()), std::move(classes))},
                       std::move(tokenizer)};
    validate(made.config);
    const Size vocabulary = made.config.size(Dimension::vocab_size);
    require(std::cmp_less_equal(made.tokenizer->size(), vocabulary.value), "the texts have ", made.tokenizer->size(),
            " tokens, the model's vocabulary is ", vocabulary.value);
    return made;
}

/// Encodes a set; notes how many of its texts are cut.
std::unique_ptr<SequenceSet> sequence_set(const Common& common, const SequenceRunOptions& o, std::string name,
                                          const LabelledTexts& texts, const SequenceModel& model, bool shuffled) {
    const SequenceBatches::Options how{
        .rows = o.batch_size, .buckets = as_index(o.buckets), .seed = o.seed, .shuffled = shuffled};
    auto set = std::make_unique<SequenceSet>(std::move(name), texts, model, o.block_size, how);
    if (const std::size_t count = set->sequences.cut(); count > 0)
        note(common, text(texts.name, ": ", count, " of ", texts.size(), " texts have more than ", o.block_size,
                          " tokens and are cut"));
    return set;
}

void train_sequences(const SequenceRunOptions& o, const Common& common) {
    std::optional<RunDirectory> run;
    if (o.resume)
        run = RunDirectory::reopen(o.out_dir);
    else
        require_free(o.out_dir, o.overwrite, {o.data});
    require(!o.data.empty(), "--data is missing: a directory or a file of texts with labels");
    const LabelKeys keys = label_keys(o.label_fields);
    const LabelledTexts training = read_labelled_split(o.data, "train", keys);
    const LabelledTexts validation = read_labelled_split(o.data, "val", keys);
    const SequenceModel model = model_of(o, training, validation);
    const std::unique_ptr<SequenceSet> training_set = sequence_set(common, o, "train", training, model, true);
    const SequenceBatches& batches = training_set->batches;
    EvaluationSets<SequenceSet> evaluations;
    evaluations.add(sequence_set(common, o, "val", validation, model, false));
    for (const NamedPath& set : o.eval_data)
        evaluations.add(sequence_set(common, o, set.name, read_labelled_split(set.path, "val", keys), model, false));
    with_device(common, [&](Device& device) {
        const auto loss_of = [&](const SequenceShape& shape) -> LossGraph {
            return [&, shape](const Scope& scope) { return sequence_loss(scope, model.config, shape, o.loss_terms); };
        };
        LossGraphs losses;
        for (const SequenceShape& shape : batches.shapes()) losses.shapes.push_back(loss_of(shape));
        const std::int64_t micro_steps = o.trainer.gradient_accumulation_steps;
        const auto batch_of = [&](std::uint64_t number) {
            return o.overfit_one_batch ? number % static_cast<std::uint64_t>(micro_steps) : number;
        };
        losses.shape_of = [&](std::uint64_t number) { return batches.shape_of(batch_of(number)); };
        const std::int64_t longest = batches.shapes().back().length;
        const std::int64_t bytes = require_memory(device, o, [&](std::int64_t rows, bool) {
            return loss_of({rows, longest});
        });
        Trainer trainer(device, losses, evaluation_losses(evaluations, model.config), o.trainer);
        const auto describe = [&](RunDirectory& made) {
            ModelFiles files{{"config.json", config_json_text(model.config)}};
            files.insert(model.tokenizer.files.begin(), model.tokenizer.files.end());
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
            .items = "sequences",
            .items_in_step =
                [&](std::int64_t step) {
                    std::int64_t sum = 0;
                    for (std::int64_t i = 0; i < micro_steps; ++i)
                        sum += batches.sequences(batch_of(static_cast<std::uint64_t>(step * micro_steps + i)));
                    return static_cast<double>(sum);
                },
            .peak_gflops = o.peak_gflops,
            .learning_rate = [&](std::int64_t step) { return o.schedule.at(step); },
            .feed = o.training_feed(
                [&](Program& program, std::uint64_t number) { write_batch(program, batches.at(number)); }, o.max_iters),
            .eval_batches = static_cast<std::int64_t>(evaluations.count()),
            .evaluate = [&](const Watch& watch) { return evaluate(trainer, evaluations, watch); },
            .probe_interval = o.probe_interval,
            .probe = [&] { return probe_document(probe->read(evaluations.feed())); }};
        if (o.dry_run) return dry_run(trainer, loop, bytes, o.trace, common);
        if (!run) {
            run = RunDirectory::create(o.out_dir, o.overwrite, o.data);
            describe(*run);
        }
        note(common, text(trainer.parameters().count(), " parameters, ", model.config.attention().title(),
                          " attention, on ", device.info().name, "; ", training_set->sequences.size(), " sequences of ",
                          model.config.size(Dimension::classes).value, " classes in ", batches.count(), " batches of ",
                          batches.shapes().size(), " shapes, ", percent_text(batches.padding()), " padding"));
        run->introduce(run_part(common, device.info(), trainer.parameters().count()));
        at = run_training(trainer, *run, loop, at, common);
        if (common.json) print_json({{"out_dir", o.out_dir}, {"steps", at.step}, {"best_val_accuracy", 1 - at.best}});
    });
}

}  // namespace

void add_train_sequences(cli::Command& train, Common& common, const Family& family) {
    cli::Command& app =
        train.add_subcommand(std::string(family.command), text("Train a ", family.title, " on texts with labels"));
    add_common(app, common);
    auto options = std::make_shared<SequenceRunOptions>(family);
    options->declare(app);
    app.footer(train_examples(family, "--data data/listops"));
    app.callback([options, &common] {
        options->resolve(common);
        options->load_origin(common);
        options->check();
        train_sequences(*options, common);
    });
}

}  // namespace vkf
