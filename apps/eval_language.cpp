// vkformer eval on a language model: loss and perplexity.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/common.h"
#include "apps/eval.h"
#include "apps/interrupts.h"
#include "apps/model.h"
#include "apps/progress.h"
#include "models/language_model.h"
#include "program/program.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

/// How the split is cut into batches.
struct Windows {
    std::int64_t rows, length, count;
    std::int64_t tokens() const { return rows * length; }
};

/// Batch t of the whole split read once, window after window: every token but the first is
/// predicted exactly once. Rows past the end, and the end of the last window, have no targets.
Batch window(TokenSpan tokens, std::size_t t, std::size_t size) {
    Batch batch{std::vector<std::int32_t>(size), std::vector<std::int32_t>(size, -1)};
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t at = t * size + i;
        if (at + 1 >= tokens.size()) break;
        batch.tokens[i] = static_cast<std::int32_t>(tokens[at]);
        batch.targets[i] = static_cast<std::int32_t>(tokens[at + 1]);
    }
    return batch;
}

struct Result {
    double loss = 0;
    std::int64_t predicted = 0;
    std::int64_t batches = 0;
};

/// The mean loss over all predicted tokens.
Result evaluate(Device& device, const Common& common, const EvalOptions& o, const LanguageModel& model,
                const Windows& windows, TokenSpan tokens) {
    Graph graph;
    Parameters parameters;
    State state(device);
    graph.activations = common.activations();
    graph.output("loss", language_loss(Scope(graph, parameters), model.config, windows.rows, windows.length));
    Program program(device, graph, state);
    model.load(parameters, state);

    const auto rows = static_cast<std::size_t>(windows.rows), length = static_cast<std::size_t>(windows.length);
    const Objective objective = language_objective(model.config);
    const Batches random(o.split, tokens, {Order::random, rows, length, common.seed, objective});
    Result result;
    double sum = 0;
    Progress progress(common, "eval", "batches", windows.count);
    while (result.batches < windows.count) {
        const auto number = static_cast<std::size_t>(result.batches);
        Batch batch = o.all ? window(tokens, number, rows * length) : random.at(number);
        if (o.all && objective) {
            Random draws(common.seed, "objective/all", number);
            objective(batch, draws);
        }
        program.write("tokens", batch.tokens);
        program.write("targets", batch.targets);
        program.run();
        const auto predicted = windows.tokens() - std::ranges::count(batch.targets, -1);
        const auto loss = static_cast<double>(program.read_scalar("loss"));
        if (!o.allow_nonfinite && !std::isfinite(loss)) require_finite(o, "loss", loss, program.find_non_finite());
        sum += loss * static_cast<double>(predicted);
        result.predicted += predicted;
        ++result.batches;
        result.loss = sum / static_cast<double>(result.predicted);
        progress.update(result.batches, text("loss ", result.loss));
        stop_if_interrupted();
    }
    return result;
}

}  // namespace

void eval_language(const Common& common, const EvalOptions& o) {
    const LanguageModel model = open_language_model(o.model);
    const TokenDataset data = open_data(model, o.data);
    const auto tokens = o.split == "val" ? data.val() : data.train();
    const Size context = model.config.size(Dimension::context);
    Windows windows{o.batch_size ? o.batch_size : 12, o.block_size.value_or(context), 0};
    require(windows.length <= context, "--block-size is ", windows.length, ", wanted at most the model's ", context.key,
            " ", context.value);
    require(static_cast<std::int64_t>(tokens.size()) > windows.length, "data ", o.data, ": the split '", o.split,
            "' has ", tokens.size(), " tokens, wanted more than the block size ", windows.length);
    const std::int64_t predictable = static_cast<std::int64_t>(tokens.size()) - 1;
    windows.count = o.all ? (predictable + windows.tokens() - 1) / windows.tokens() : o.iters.value_or(200);
    Result result;
    catch_interrupts();
    with_device(common, [&](Device& device) { result = evaluate(device, common, o, model, windows, tokens); });
    const double perplexity = std::exp(result.loss);
    require_finite(o, "perplexity", perplexity);
    if (common.json)
        print_json(nlohmann::ordered_json{{"model", o.model},
                                          {"data", o.data},
                                          {"split", o.split},
                                          {"loss", result.loss},
                                          {"perplexity", perplexity},
                                          {"bits_per_token", result.loss / std::numbers::ln2},
                                          {"tokens", result.predicted},
                                          {"batches", result.batches}});
    else
        print(text("loss ", result.loss, "\nperplexity ", perplexity, "\ntokens ", result.predicted, "\n"));
}

}  // namespace vkf
