// vkformer eval on a vision model: loss, accuracy class by class, confusions.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/output_file.h"
#include "apps/cli/progress.h"
#include "apps/eval/image_evaluation.h"
#include "apps/eval/model_evaluation.h"
#include "apps/model.h"
#include "apps/train/image_options.h"
#include "models/image_model.h"
#include "models/images/image_file.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

constexpr unsigned most_workers = 16;  // each holds a batch

/// Opens the data scaled to the model's size. Throws InputError if its images or classes are not the model's.
ImageSet open_set(const Common& common, const EvalOptions& o, const ImageModel& model, const ImageFit& fit) {
    const std::int64_t side = model.config.size(Dimension::image_size);
    ImageSet set = open_noted_images(
        common, o.data,
        {.side = static_cast<std::size_t>(side), .coarse = o.coarse_labels, .max_pixels = o.max_pixels, .fit = fit});
    require_fit(set, o.data, model.config, (model.path / "config.json").string());
    return set;
}

/// Images of a split. If the data have a test but no val, both names mean the test.
Images images_of(const ImageSet& set, const std::string& split) {
    if (split == "train") return set.train;
    if (split == "val") return set.test;
    if (split == "test") return set.test_is_val ? set.held_out : set.test;
    Images all = set.train;
    for (const Images* more : {&set.test, &set.held_out})
        for (std::size_t i = 0; i < more->size(); ++i) all.add(*more, i);
    return all;
}

/// Images of a split in batches.
struct ImageSubject {
    ImageSubject(const Common& common, const EvalOptions& o, const ImageModel& model)
        : processor(model.processor(o.statistics)),
          set(open_set(common, o, model, processor.fit)),
          split(!o.split.empty() ? o.split
                : set.split      ? "val"
                                 : "all"),
          images(images_of(set, split)),
          batch(std::clamp<std::int64_t>(std::ssize(images.labels()), 1, o.batch_size ? o.batch_size : 128)),
          evaluation(set, images,
                     {.batch = static_cast<std::size_t>(batch),
                      .statistics = processor.statistics,
                      .workers = std::clamp(std::thread::hardware_concurrency(), 1u, most_workers)}) {
        require(images.size() > 0, "data ", o.data, ": the split '", split, "' has no images");
    }
    ImageSubject(const ImageSubject&) = delete;

    ImageProcessor processor;
    ImageSet set;
    std::string split;
    Images images;
    std::int64_t batch;
    ImageEvaluation evaluation;
};

void evaluate(Device& device, const Common& common, const EvalOptions& o, const ImageModel& model, std::int64_t batch,
              ImageEvaluation& evaluation) {
    Graph graph;
    Parameters parameters;
    State state(device);
    graph.activations = common.activations();
    graph.output("loss", image_loss(Scope(graph, parameters), model.config, batch, true));
    Program program(device, graph, state);
    model.load(parameters, state);
    Progress progress(common, "eval", "images", evaluation.images());
    for (std::int64_t number = 0; number < evaluation.batches(); ++number) {
        evaluation.feed(program, static_cast<std::uint64_t>(number));
        program.run();
        evaluation.update(program);
        if (!o.allow_nonfinite && !std::isfinite(evaluation.loss()))
            require_finite(o, "loss", evaluation.loss(), program.find_non_finite());
        const ConfusionMatrix& seen = evaluation.confusions();
        progress.update(static_cast<std::int64_t>(seen.count()), text("accuracy ", percent_text(seen.accuracy())));
        stop_if_interrupted();
    }
}

/// Class for which images of class `label` are most often mistaken, and the share; empty if they never are.
std::string mistaken(const ConfusionMatrix& seen, std::size_t label, const std::vector<std::string>& names) {
    std::size_t worst = label;
    std::uint64_t most = 0;
    for (std::size_t other = 0; other < names.size(); ++other)
        if (other != label && seen.count(label, other) > most) most = seen.count(label, worst = other);
    return most == 0 ? ""
                     : text(names[worst], " ",
                            percent_text(static_cast<double>(most) / static_cast<double>(seen.count(label))));
}

void report(const Common& common, const EvalOptions& o, const std::string& split, const ImageSet& set,
            const ImageEvaluation& evaluation) {
    const ConfusionMatrix& seen = evaluation.confusions();
    if (!common.json) {
        std::vector<std::vector<std::string>> rows{{"class", "images", "accuracy", "most often mistaken for"}};
        for (std::size_t label = 0; label < set.classes(); ++label)
            rows.push_back({set.class_names[label], text(seen.count(label)), percent_text(seen.recall(label)),
                            mistaken(seen, label, set.class_names)});
        return print(text("loss ", evaluation.loss(), "\naccuracy ", percent_text(seen.accuracy()), "\nimages ",
                          seen.count(), "\n\n", table(rows)));
    }
    ordered_json document{{"model", o.model},
                          {"data", o.data},
                          {"split", split},
                          {"loss", evaluation.loss()},
                          {"accuracy", seen.accuracy()},
                          {"images", seen.count()}};
    for (std::size_t label = 0; label < set.classes(); ++label) {
        std::vector<std::uint64_t> row;
        for (std::size_t other = 0; other < set.classes(); ++other) row.push_back(seen.count(label, other));
        document["classes"].push_back(
            {{"name", set.class_names[label]}, {"images", seen.count(label)}, {"accuracy", seen.recall(label)}});
        document["confusion_matrix"].push_back(row);
    }
    print_json(document);
}

}  // namespace

ModelEvaluation evaluation_of_images(const Common& common, const EvalOptions& o) {
    const auto model = std::make_shared<const ImageModel>(open_image_model({o.model, {}, o.verify}));
    const auto subject = std::make_shared<ImageSubject>(common, o, *model);
    ModelEvaluation made;
    made.model = model;
    made.side_files = {
        {image_processor_file, image_processor_text(subject->processor, model->config.size(Dimension::image_size))}};
    made.loss.shapes = {[=](const Scope& scope) { return image_loss(scope, model->config, subject->batch); }};
    made.batches = static_cast<std::uint64_t>(subject->evaluation.batches());
    made.feed = [=](Program& program, std::uint64_t number) { subject->evaluation.feed(program, number); };
    made.loss.weight_of = [=](std::uint64_t number) {
        return static_cast<double>(std::min<std::int64_t>(
            subject->batch, std::ssize(subject->images.labels()) - static_cast<std::int64_t>(number) * subject->batch));
    };
    return made;
}

void eval_images(const Common& common, const EvalOptions& o) {
    if (!o.confusion_matrix.empty()) require_output("--confusion-matrix", o.confusion_matrix, {o.model, o.data});
    const ImageModel model = open_image_model({o.model, {}, o.verify});
    ImageSubject subject(common, o, model);
    catch_interrupts();
    with_device(common, [&](Device& device) { evaluate(device, common, o, model, subject.batch, subject.evaluation); });
    if (!o.confusion_matrix.empty())
        write_png(o.confusion_matrix,
                  draw_confusion(subject.evaluation.confusions(), subject.set.class_names, o.model));
    report(common, o, subject.split, subject.set, subject.evaluation);
}

}  // namespace vkf
