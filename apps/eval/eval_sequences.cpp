// vkformer eval on a sequence classifier: loss, and accuracy class by class.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/eval/model_evaluation.h"
#include "apps/model.h"
#include "base/text/plain_text.h"
#include "models/data/sequences/labelled_sequences.h"
#include "models/images/drawing/confusion.h"
#include "models/sequence_model.h"
#include "models/train/token_feed.h"
#include "program/compiled_graph.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Part of the data: the split that the options name or, if they name none, val of a directory and all of a file.
std::string split_of(const EvalOptions& o) {
    if (!o.split.empty()) return o.split;
    return std::filesystem::is_directory(o.data) ? "val" : "all";
}

LabelledTexts read_examples(const EvalOptions& o, const std::string& split) {
    const LabelKeys keys = label_keys(o.label_fields);
    if (split != "all") return read_labelled_split(o.data, split, keys);
    require(!std::filesystem::is_directory(o.data), "--split all is for files of examples, ", o.data,
            " is a directory: wanted train, val or test");
    return read_labelled_file(o.data, keys);
}

/// Sequences of a model in batches.
struct SequenceSubject {
    SequenceSubject(const Common& common, const EvalOptions& o, const SequenceModel& model, bool shuffled)
        : split(split_of(o)),
          texts(read_examples(o, split)),
          sequences(texts, *model.tokenizer, model.config.class_names(), model.config.size(Dimension::classes),
                    model.config.size(Dimension::context)),
          batches("eval", sequences,
                  {.rows = o.batch_size ? o.batch_size : 32, .seed = common.seed, .shuffled = shuffled}) {
        if (sequences.cut() > 0)
            note(common, text(texts.name, ": ", sequences.cut(), " of ", texts.size(), " texts have more than ",
                              model.config.size(Dimension::context).value, " tokens and are cut"));
    }
    SequenceSubject(const SequenceSubject&) = delete;

    std::string split;
    LabelledTexts texts;
    LabelledSequences sequences;
    SequenceBatches batches;
};

struct SequenceResult {
    double loss = 0;
    ConfusionMatrix seen;
};

SequenceResult evaluate(Device& device, const Common& common, const EvalOptions& o, const SequenceModel& model,
                        const SequenceBatches& batches) {
    State state(device);
    Parameters parameters;
    std::vector<std::unique_ptr<CompiledGraph>> by_shape;
    for (const SequenceShape& shape : batches.shapes())
        by_shape.push_back(std::make_unique<CompiledGraph>(device, state, common.activations(), [&](Graph& graph) {
            graph.output("loss", sequence_evaluation(Scope(graph, parameters), model.config, shape));
        }));
    model.load(parameters, state);
    Progress progress(common, "eval", "batches", static_cast<std::int64_t>(batches.count()));
    SequenceResult result{.seen =
                              ConfusionMatrix(static_cast<std::size_t>(model.config.size(Dimension::classes).value))};
    double sum = 0;
    for (std::uint64_t i = 0; i < batches.count(); ++i) {
        stop_if_interrupted();
        Program& program = by_shape[batches.shape_of(i)]->program;
        const Batch batch = batches.at(i);
        write_batch(program, batch);
        program.run();
        const auto loss = static_cast<double>(program.read_scalar("loss"));
        if (!o.allow_nonfinite && !std::isfinite(loss)) require_finite(o, "loss", loss, program.find_non_finite());
        const std::vector<std::int32_t> likeliest = program.read_ints("likeliest"), &targets = batch.at("targets");
        for (std::size_t row = 0; row < targets.size(); ++row)
            if (targets[row] >= 0) result.seen.add(targets[row], likeliest[row]);
        sum += loss * static_cast<double>(batches.sequences(i));
        result.loss = sum / static_cast<double>(result.seen.count());
        progress.update(static_cast<std::int64_t>(i) + 1, text("accuracy ", percent_text(result.seen.accuracy())));
    }
    return result;
}

void report(const Common& common, const EvalOptions& o, const std::string& split, const ModelConfig& config,
            const SequenceResult& result) {
    const ConfusionMatrix& seen = result.seen;
    if (!common.json) {
        std::vector<std::vector<std::string>> rows{{"class", "sequences", "accuracy"}};
        for (std::size_t label = 0; label < seen.classes(); ++label)
            rows.push_back(
                {plain_line(config.label(label)), text(seen.count(label)), percent_text(seen.recall(label))});
        return print(text("loss ", result.loss, "\naccuracy ", percent_text(seen.accuracy()), "\nsequences ",
                          seen.count(), "\n\n", table(rows)));
    }
    nlohmann::ordered_json document{{"model", o.model},
                                    {"data", o.data},
                                    {"split", split},
                                    {"loss", result.loss},
                                    {"accuracy", seen.accuracy()},
                                    {"sequences", seen.count()}};
    for (std::size_t label = 0; label < seen.classes(); ++label) {
        std::vector<std::uint64_t> row;
        for (std::size_t other = 0; other < seen.classes(); ++other) row.push_back(seen.count(label, other));
        document["classes"].push_back(
            {{"name", config.label(label)}, {"sequences", seen.count(label)}, {"accuracy", seen.recall(label)}});
        document["confusion_matrix"].push_back(row);
    }
    print_json(document);
}

}  // namespace

ModelEvaluation evaluation_of_sequences(const Common& common, const EvalOptions& o) {
    const auto model = std::make_shared<const SequenceModel>(open_sequence_model({o.model, o.base, o.verify}));
    const auto subject = std::make_shared<const SequenceSubject>(common, o, *model, true);
    ModelEvaluation made;
    made.model = model;
    made.side_files = model->tokenizer.files;
    for (const SequenceShape& shape : subject->batches.shapes())
        made.loss.shapes.emplace_back([=](const Scope& scope) { return sequence_loss(scope, model->config, shape); });
    made.batches = subject->batches.count();
    made.loss.shape_of = [=](std::uint64_t number) { return subject->batches.shape_of(number); };
    made.feed = [=](Program& program, std::uint64_t number) { write_batch(program, subject->batches.at(number)); };
    made.loss.weight_of = [=](std::uint64_t number) { return static_cast<double>(subject->batches.sequences(number)); };
    made.tokens = [=](std::uint64_t number, bool) {
        return TokenRows{subject->batches.shapes()[subject->batches.shape_of(number)].length,
                         subject->batches.at(number).at("tokens"), model->tokenizer.tokenizer.get()};
    };
    return made;
}

void eval_sequences(const Common& common, const EvalOptions& o) {
    const SequenceModel model = open_sequence_model({o.model, o.base, o.verify});
    const SequenceSubject subject(common, o, model, false);
    catch_interrupts();
    with_device(common, [&](Device& device) {
        report(common, o, subject.split, model.config, evaluate(device, common, o, model, subject.batches));
    });
}

}  // namespace vkf
