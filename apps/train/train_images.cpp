// vkformer train for a vision model: data, model and evaluation; the loop is in train_loop.cpp.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/eval/image_evaluation.h"
#include "apps/model.h"
#include "apps/tasks.h"
#include "apps/train/dry_run.h"
#include "apps/train/image_options.h"
#include "apps/train/run_part.h"
#include "apps/train/train_loop.h"
#include "apps/train/train_memory.h"
#include "base/error.h"
#include "models/files/config_json.h"
#include "models/files/held_files.h"
#include "models/files/image_processor.h"
#include "models/files/resized_positions.h"
#include "models/image_model.h"
#include "models/probes/attention_probe.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Images of a set to evaluate on.
struct ImageEvalSet {
    std::string name;
    const ImageSet* set;
    const Images* images;
};

/// Loss, with labels smoothed as in training, and accuracy over each set; accuracy on "val", of the run's own data,
/// decides which model is the best.
Evaluation evaluate(Trainer& trainer, const std::vector<ImageEvalSet>& sets, const ImageRunOptions& o,
                    const Watch& watch) {
    Evaluation made;
    for (const auto& [name, set, images] : sets) {
        ImageEvaluation found(*set, *images, o.plain_batches());
        trainer.evaluate(watch([&](Program& program, std::uint64_t number) { found.feed(program, number); }), 0,
                         found.batches(), [&](Program& program) { found.update(program); });
        const double accuracy = found.confusions().accuracy();
        made.metrics[name + "_loss"] = found.loss();
        made.metrics[name + "_accuracy"] = accuracy;
        made.lines.push_back(text(name, " loss ", fixed(found.loss(), 4), ", accuracy ", percent_text(accuracy)));
        if (name == "val") made.score = 1 - accuracy;
    }
    return made;
}

/// Opens the sets of --eval-data.
std::vector<ImageSet> open_eval_data(const ImageRunOptions& o, const Common& common, const ModelConfig& model,
                                     const std::string& config) {
    std::vector<ImageSet> list;
    for (const NamedPath& at : o.eval_data) {
        const std::string path = at.path.string();
        const ImageSet& set = list.emplace_back(o.images(common, path));
        require(set.test.size() > 0, "data ", path, ": there are no test images");
        require_fit(set, path, model, config);
    }
    return list;
}

std::int64_t batches_of(const std::vector<ImageEvalSet>& sets, std::int64_t batch_size) {
    std::int64_t count = 0;
    for (const ImageEvalSet& at : sets) count += (std::ssize(at.images->labels()) + batch_size - 1) / batch_size;
    return count;
}

/// Sets to evaluate on: the run's own test images, or val and test if the data have both, and the sets of --eval-data.
std::vector<ImageEvalSet> eval_sets(const ImageRunOptions& o, const ImageSet& set,
                                    const std::vector<ImageSet>& others) {
    std::vector<ImageEvalSet> sets{{"val", &set, &set.test}};
    if (set.held_out.size() > 0) sets.push_back({"test", &set, &set.held_out});
    for (std::size_t i = 0; i < others.size(); ++i) {
        const std::string& name = o.eval_data[i].name;
        require(name != "test" || set.held_out.size() == 0, "--eval-data calls ", o.eval_data[i].path.string(),
                " test, as the images of ", o.data, "'s own test are called");
        sets.push_back({name, &others[i], &others[i].test});
    }
    return sets;
}

/// Model to train: the configuration of a known model, or a fresh one for the data.
ModelConfig model_config(const ImageRunOptions& o, const ImageSet& set) {
    const std::filesystem::path origin = o.origin();
    const auto side = static_cast<std::int64_t>(set.side), classes = static_cast<std::int64_t>(set.classes());
    const std::filesystem::path file = origin / "config.json";
    require(o.num_labels == 0 || o.num_labels == classes, "data ", o.data, ": has ", classes, " classes, ",
            o.origin_of("--num-labels"), " is ", o.num_labels);
    ModelConfig c = origin.empty() ? o.fresh_model(side, classes) : read_config_json(file);
    if (o.image_size > 0) c.set(Dimension::image_size, o.image_size);
    validate(c);
    require_fit(set, o.data, c, file.string());
    c.set_class_names(set.class_names);
    return c;
}

/// First steps of the parts of a run in each of which images have one side.
std::vector<std::int64_t> phases_of(const SideSchedule& sides, std::int64_t steps_per_epoch) {
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < sides.count(); ++i) list.push_back(i * sides.epochs * steps_per_epoch);
    return list;
}

void train_images(const ImageRunOptions& o, const Common& common) {
    std::optional<RunDirectory> run;
    if (o.resume)
        run = RunDirectory::reopen(o.out_dir);
    else
        require_free(o.out_dir, o.overwrite, {o.data});  // same check as in create(), before the long part
    if (o.verify && !o.origin().empty()) require_undamaged(o.origin());
    const ImageSet set = o.images(common, o.data);
    require(set.test.size() > 0, "data ", o.data, ": there are no test images");
    ImageBatches batches(set, set.train, o.batches());
    const std::int64_t micro_steps = o.trainer.gradient_accumulation_steps;
    require(batches.per_epoch() >= micro_steps, "--gradient-accumulation-steps is ", micro_steps, ", an epoch of ",
            o.data, " has ", batches.per_epoch(), " batches: wanted no more");
    const ModelConfig model = model_config(o, set);
    const std::vector<ImageSet> others =
        open_eval_data(o, common, model, (std::filesystem::path(o.out_dir) / "config.json").string());
    const std::vector<ImageEvalSet> sets = eval_sets(o, set, others);
    const std::int64_t steps_per_epoch = batches.per_epoch() / micro_steps;
    const SideSchedule sides = o.side_schedule(model);
    const bool grows = sides.count() > 1;
    const auto phase_of = [=, one_batch = o.overfit_one_batch](std::uint64_t number) {
        const auto batch = static_cast<std::int64_t>(number);
        return sides.index((one_batch ? batch % micro_steps : batch) / micro_steps / steps_per_epoch);
    };
    if (grows)
        batches.resize([=](std::uint64_t number) { return static_cast<std::size_t>(sides.side(phase_of(number))); });
    with_device(common, [&](Device& device) {
        const auto loss = [&](std::int64_t rows, bool evaluation) {
            return [&, rows, evaluation](const Scope& scope) { return image_loss(scope, model, rows, evaluation); };
        };
        const std::int64_t bytes = require_memory(device, o, loss);
        LossGraphs training{.one_at_a_time = grows};
        for (std::int64_t i = 0; i < sides.count(); ++i)
            training.shapes.push_back([&, side = sides.side(i)](const Scope& scope) {
                return image_loss(scope, model, o.batch_size, false, side);
            });
        training.shape_of = [&](std::uint64_t number) { return static_cast<std::size_t>(phase_of(number)); };
        Trainer trainer(device, training, LossGraphs{.shapes = {loss(o.batch_size, true)}}, o.trainer);
        RunProgress at;
        if (run) {
            at = run->restore(trainer);
        } else if (!o.init_from.empty()) {
            load_for_size(o.init_from, model, trainer.state());
            trainer.begin_averages();
        }
        const EpochSchedule schedule = o.epoch_schedule(steps_per_epoch);
        std::optional<AttentionProbe> probe;
        if (o.probe_interval > 0) probe.emplace(trainer, loss(o.batch_size, true), model);
        const TrainLoop loop{
            .steps = o.epochs * steps_per_epoch,
            .steps_option = "--epochs",
            .eval_interval = o.eval_interval * steps_per_epoch,
            .log_interval = o.log_interval,
            .phases = phases_of(sides, steps_per_epoch),
            .limits = o.limits,
            .items = "images",
            .items_in_step = [&](std::int64_t) { return static_cast<double>(o.batch_size * micro_steps); },
            .peak_gflops = o.peak_gflops,
            .learning_rate = [&](std::int64_t step) { return schedule.at(step); },
            .feed = o.training_feed(batches.feed(), o.epochs * steps_per_epoch),
            .change_interval = grows ? steps_per_epoch : 0,
            .change =
                [&](std::int64_t step) {
                    const std::int64_t side = sides.side(phase_of(static_cast<std::uint64_t>(step * micro_steps)));
                    if (side < sides.last) reduce_frozen_positions(trainer.parameters(), model, side, trainer.state());
                },
            .eval_batches = batches_of(sets, o.batch_size),
            .evaluate = [&](const Watch& watch) { return evaluate(trainer, sets, o, watch); },
            .probe_interval = o.probe_interval,
            .probe =
                [&] {
                    ImageEvaluation probed(set, set.test, o.plain_batches());
                    const auto feed = [&](Program& program, std::uint64_t number) { probed.feed(program, number); };
                    return probe_document(probe->read(feed));
                }};
        if (o.dry_run) return dry_run(trainer, loop, bytes, o.trace, common);
        if (!run) run = RunDirectory::create(o.out_dir, o.overwrite, o.data);
        run->describe({{"config.json", config_json_text(model)},
                       {image_processor_file, image_processor_text(o.processor(), model.size(Dimension::image_size))}},
                      o.toml(), o.save_total_limit);
        if (o.resized_from > 0)
            note(common, text(o.origin(), ": positions of images of ", o.resized_from, " pixels become those of ",
                              model.size(Dimension::image_size).value));
        if (grows)
            note(common, text("training images are ", sides.first, " pixels wide, and ", sides.step,
                              " more after every ", sides.epochs, " epochs, until ", sides.last));
        note(common, text(trainer.parameters().count(), " parameters, ", model.attention().title(), " attention, on ",
                          device.info().name, "; ", set.train.size(),
                          set.train.in_memory() ? " images, " : " images in their files, ", steps_per_epoch,
                          " steps an epoch"));
        run->introduce(run_part(common, device.info(), trainer.parameters().count()));
        at = run_training(trainer, *run, loop, at, common);
        if (common.json) print_json({{"out_dir", o.out_dir}, {"steps", at.step}, {"best_val_accuracy", 1 - at.best}});
    });
}

}  // namespace

void add_train_images(cli::Command& train, Common& common, const Family& family) {
    const std::string command(family.command);
    cli::Command& app = train.add_subcommand(command, text("Train a ", family.title, " on CIFAR or folders of images"));
    add_common(app, common);
    auto options = std::make_shared<ImageRunOptions>(family);
    options->declare(app);
    app.footer(train_examples(family, "--data data/cifar10"));
    app.callback([options, &common] {
        options->resolve(common);
        options->load_origin(common);
        options->check();
        train_images(*options, common);
    });
}

}  // namespace vkf
