// vkformer eval on a language model: loss, perplexity and bits per byte.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/eval/language_subject.h"
#include "apps/eval/model_evaluation.h"
#include "apps/model.h"
#include "models/language_model.h"
#include "models/masked_language_model.h"
#include "models/train/token_feed.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

struct Result {
    double loss = 0;
    std::int64_t predicted = 0;
    std::int64_t batches = 0;
    std::optional<std::int64_t> bytes;  // predicted bytes, if known
    std::optional<double> accuracy;     // of hidden words
};

/// Mean loss over all predicted tokens.
Result evaluate(Device& device, const Common& common, const EvalOptions& o, const LanguageModel& model,
                const LanguageSubject& subject) {
    const TokenWindows& windows = subject.windows();
    Graph graph;
    Parameters parameters;
    State state(device);
    graph.activations = common.activations();
    graph.output("loss", language_evaluation(Scope(graph, parameters), model.config, windows.rows, windows.length));
    Program program(device, graph, state);
    model.load(parameters, state);

    const Tokenizer* tokenizer = model.tokenizer ? model.tokenizer->tokenizer.get() : nullptr;
    // Hidden words are a part of the text: no number of bits describes all of its bytes.
    const bool counts_bytes = tokenizer && !subject.hides_words();
    const auto bytes = counts_bytes ? bytes_of_tokens(*tokenizer) : std::vector<std::int64_t>();
    Result result;
    if (counts_bytes) result.bytes = 0;
    Predictions predictions;
    double sum = 0;
    Progress progress(common, "eval", "batches", windows.count);
    while (result.batches < windows.count) {
        const Batch batch = subject.batch(result.batches);
        write_batch(program, batch);
        program.run();
        const auto predicted = windows.tokens() - std::ranges::count(batch.at("targets"), -1);
        const auto loss = static_cast<double>(program.read_scalar("loss"));
        if (!o.allow_nonfinite && !std::isfinite(loss)) require_finite(o, "loss", loss, program.find_non_finite());
        sum += loss * static_cast<double>(predicted);
        result.predicted += predicted;
        for (const std::int32_t target : batch.at("targets"))
            if (result.bytes && target >= 0) *result.bytes += bytes[static_cast<std::size_t>(target)];
        if (subject.hides_words()) predictions.add(program.read_ints("likeliest"), batch.at("targets"));
        ++result.batches;
        result.loss = sum / static_cast<double>(std::max<std::int64_t>(result.predicted, 1));
        progress.update(result.batches, text("loss ", result.loss));
        stop_if_interrupted();
    }
    require(result.predicted > 0, o.subject(), ": none of its words was hidden, wanted more text or --iters");
    if (subject.hides_words()) result.accuracy = predictions.accuracy();
    return result;
}

}  // namespace

ModelEvaluation evaluation_of_language(const Common& common, const EvalOptions& options) {
    EvalOptions o = options;
    if (o.split.empty()) o.split = "val";
    const auto model = std::make_shared<const LanguageModel>(open_language_model({o.model, o.base, o.verify}));
    const auto subject = std::make_shared<const LanguageSubject>(common, o, *model);
    const auto batch = [=](std::uint64_t number) { return subject->batch(static_cast<std::int64_t>(number)); };
    const TokenWindows windows = subject->windows();
    ModelEvaluation made;
    made.model = model;
    made.side_files = model->side_files();
    made.loss.shapes = {
        [=](const Scope& scope) { return language_evaluation(scope, model->config, windows.rows, windows.length); }};
    made.batches = static_cast<std::uint64_t>(windows.count);
    made.feed = [=](Program& program, std::uint64_t number) { write_batch(program, batch(number)); };
    made.loss.weight_of = [=](std::uint64_t number) {
        return static_cast<double>(windows.tokens() - std::ranges::count(batch(number).at("targets"), -1));
    };
    made.tokens = [=](std::uint64_t number, bool) {
        const Tokenizer* tokenizer = model->tokenizer ? model->tokenizer->tokenizer.get() : nullptr;
        return TokenRows{windows.length, batch(number).at("tokens"), tokenizer};
    };
    return made;
}

void eval_language(const Common& common, const EvalOptions& options) {
    require(!options.limit || !options.hellaswag.empty(), "--limit is for --hellaswag");
    if (!options.hellaswag.empty()) return eval_hellaswag(common, options);
    EvalOptions o = options;
    if (o.split.empty()) o.split = "val";
    require(!o.stride || o.predicts_every_token(), "--stride is for --all and --text");
    const LanguageModel model = open_language_model({o.model, o.base, o.verify});
    const LanguageSubject subject(common, o, model);
    Result result;
    catch_interrupts();
    with_device(common, [&](Device& device) { result = evaluate(device, common, o, model, subject); });
    if (result.bytes && subject.text_bytes()) result.bytes = subject.text_bytes();
    const double perplexity = std::exp(result.loss);
    require_finite(o, "perplexity", perplexity);
    const double bits = result.loss / std::numbers::ln2;
    nlohmann::ordered_json facts{{"model", o.model}};
    if (o.text.empty())
        facts.update({{"data", o.data}, {"split", o.split}});
    else
        facts["text"] = o.text;
    facts.update({{"loss", result.loss}, {"perplexity", perplexity}, {"bits_per_token", bits}});
    if (result.accuracy) facts["accuracy"] = *result.accuracy;
    if (result.bytes.value_or(0) > 0) {
        facts["bits_per_byte"] = bits * static_cast<double>(result.predicted) / static_cast<double>(*result.bytes);
        facts["bytes"] = *result.bytes;
    }
    facts.update({{"tokens", result.predicted}, {"batches", result.batches}});
    if (common.json) return print_json(facts);
    for (const char* key : {"loss", "perplexity", "bits_per_byte"})
        if (facts.contains(key)) print(text(key, ' ', facts[key].get<double>(), '\n'));
    if (result.accuracy) print(text("accuracy ", percent_text(*result.accuracy), '\n'));
    print(text("tokens ", result.predicted, '\n'));
}

}  // namespace vkf
