// vkformer eval on a language model: loss, perplexity and bits per byte.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/eval/eval.h"
#include "apps/model.h"
#include "models/language_model.h"
#include "models/masked_language_model.h"
#include "models/train/token_feed.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Cut of the tokens into batches.
struct Windows {
    std::int64_t rows, length, stride, count;
    std::int64_t tokens() const { return rows * length; }
};

/// Number of batches of windows that predict every token but the first of `size`.
std::int64_t batches_of_all(std::int64_t size, const Windows& w) {
    const std::int64_t behind_first = std::max<std::int64_t>(size - 1 - w.length, 0);
    const std::int64_t windows = 1 + (behind_first + w.stride - 1) / w.stride;
    return (windows + w.rows - 1) / w.rows;
}

/// Batch t of windows that begin every `stride` tokens; every token but the first is predicted exactly once. Tokens
/// that the previous window predicts have no target, and neither have rows past the end and the end of the last window.
/// If every position sees all of its window (`whole`), the last window begins so early that it is full.
Batch window(const TokenStream& tokens, std::int64_t t, const Windows& w, bool whole) {
    const auto size = static_cast<std::size_t>(w.tokens());
    const std::int64_t last_start = static_cast<std::int64_t>(tokens.size()) - 1 - w.length;
    std::vector<std::int32_t> read(size), targets(size, -1);
    for (std::int64_t i = 0; i < w.tokens(); ++i) {
        const std::int64_t wanted = (t * w.rows + i / w.length) * w.stride, column = i % w.length;
        const std::int64_t start = whole ? std::min(wanted, last_start) : wanted;
        const auto place = static_cast<std::size_t>(i), at = static_cast<std::size_t>(start + column);
        if (at + 1 >= tokens.size()) continue;
        read[place] = static_cast<std::int32_t>(tokens[at]);
        const bool predicted = wanted > 0 && start + column < wanted + w.length - w.stride;
        if (!predicted) targets[place] = static_cast<std::int32_t>(tokens[at + 1]);
    }
    return {{"tokens", std::move(read)}, {"targets", std::move(targets)}};
}

/// Bytes of text that each token stands for; 0 for tokens that only separate texts.
std::vector<std::int64_t> bytes_of_tokens(const Tokenizer& tokenizer) {
    std::vector<std::int64_t> bytes;
    for (std::size_t token = 0; token < tokenizer.size(); ++token)
        bytes.push_back(std::ssize(tokenizer.bytes(static_cast<std::int32_t>(token))));
    for (const AddedToken& added : tokenizer.added_tokens())
        if (added.special) bytes[static_cast<std::size_t>(added.token)] = 0;
    return bytes;
}

/// Data or text on which a model is evaluated.
struct Subject {
    std::optional<TokenDataset> data;  // empty if `text` is used
    TokenList text;
    TokenStream tokens;
    std::optional<std::int64_t> bytes;  // predicted bytes of a text
};

Subject open_subject(const EvalOptions& o, const LanguageModel& model) {
    Subject subject;
    if (o.text.empty()) {
        subject.data.emplace(open_data(model, o.data));
        subject.tokens = o.split == "val" ? subject.data->val() : subject.data->train();
        return subject;
    }
    require(model.tokenizer.has_value(), "model ", o.model, " has no tokenizer, which --text needs");
    const Tokenizer& tokenizer = **model.tokenizer;
    const std::string words = read_corpus(o.text);
    Tokens tokens;
    try {
        tokens = tokenizer.encode(words, o.parse_special ? SpecialNames::tokens : SpecialNames::text);
    } catch (const InputError& error) {
        throw InputError(o.text, ": ", error.what(), " in ", model.tokenizer->path.string());
    }
    require(!tokens.empty(), "text ", o.text, ": there is no token to start from: ", model.tokenizer->path.string(),
            " leaves nothing of it");
    subject.bytes = std::ssize(words);
    const std::vector<std::int64_t> bytes = bytes_of_tokens(tokenizer);
    const auto stands_for_none = [&](std::int32_t token) { return bytes[static_cast<std::size_t>(token)] == 0; };
    for (const std::int32_t token : tokens)
        if (stands_for_none(token)) *subject.bytes -= std::ssize(tokenizer.bytes(token));
    if (const auto begin = tokenizer.begin_of_text())
        tokens.insert(tokens.begin(), *begin);
    else if (!stands_for_none(tokens.front()))
        *subject.bytes -= std::ssize(tokenizer.decode(std::span(tokens).first(1)));  // never predicted
    if (const auto closing = tokenizer.closing_token()) tokens.push_back(*closing);
    require(tokens.size() > 1, "text ", o.text, ": is a single token, wanted one more to predict");
    subject.text = packed_tokens(tokens);
    subject.tokens = TokenSpan(subject.text);
    return subject;
}

struct Result {
    double loss = 0;
    std::int64_t predicted = 0;
    std::int64_t batches = 0;
    std::optional<std::int64_t> bytes;  // predicted bytes, if known
    std::optional<double> accuracy;     // of hidden words
};

/// True if every token is predicted exactly once.
bool predicts_every_token(const EvalOptions& o) {
    return o.all || !o.text.empty();
}

/// Mean loss over all predicted tokens.
Result evaluate(Device& device, const Common& common, const EvalOptions& o, const LanguageModel& model,
                const Windows& windows, const TokenStream& tokens) {
    Graph graph;
    Parameters parameters;
    State state(device);
    graph.activations = common.activations();
    graph.output("loss", language_evaluation(Scope(graph, parameters), model.config, windows.rows, windows.length));
    Program program(device, graph, state);
    model.load(parameters, state);

    const auto rows = static_cast<std::size_t>(windows.rows), length = static_cast<std::size_t>(windows.length);
    const Tokenizer* tokenizer = model.tokenizer ? model.tokenizer->tokenizer.get() : nullptr;
    const Objective objective = language_objective(model.config, special_tokens(tokenizer));
    std::optional<Batches> random;
    if (!predicts_every_token(o))
        random.emplace(o.split, tokens, Batches::Options{Order::random, rows, length, common.seed, objective});
    // Hidden words are a part of the text: no number of bits describes all of its bytes.
    const bool counts_bytes = tokenizer && !objective;
    const auto bytes = counts_bytes ? bytes_of_tokens(*tokenizer) : std::vector<std::int64_t>();
    Result result;
    if (counts_bytes) result.bytes = 0;
    Predictions predictions;
    double sum = 0;
    Progress progress(common, "eval", "batches", windows.count);
    while (result.batches < windows.count) {
        const auto number = static_cast<std::uint64_t>(result.batches);
        Batch batch = random ? random->at(number) : window(tokens, result.batches, windows, bool(objective));
        if (!random && objective) {
            Random draws(common.seed, "objective/all", number);
            objective(batch, draws);
        }
        write_batch(program, batch);
        program.run();
        const auto predicted = windows.tokens() - std::ranges::count(batch.at("targets"), -1);
        const auto loss = static_cast<double>(program.read_scalar("loss"));
        if (!o.allow_nonfinite && !std::isfinite(loss)) require_finite(o, "loss", loss, program.find_non_finite());
        sum += loss * static_cast<double>(predicted);
        result.predicted += predicted;
        for (const std::int32_t target : batch.at("targets"))
            if (result.bytes && target >= 0) *result.bytes += bytes[static_cast<std::size_t>(target)];
        if (objective) predictions.add(program.read_ints("likeliest"), batch.at("targets"));
        ++result.batches;
        result.loss = sum / static_cast<double>(std::max<std::int64_t>(result.predicted, 1));
        progress.update(result.batches, text("loss ", result.loss));
        stop_if_interrupted();
    }
    require(result.predicted > 0, o.subject(), ": none of its words was hidden, wanted more text or --iters");
    if (objective) result.accuracy = predictions.accuracy();
    return result;
}

}  // namespace

void eval_language(const Common& common, const EvalOptions& options) {
    require(options.split != "test" && options.split != "all", "--split test and all is for ", image_task().model,
            "s; ", options.model, " is none");
    require(!options.limit || !options.hellaswag.empty(), "--limit is for --hellaswag");
    if (!options.hellaswag.empty()) return eval_hellaswag(common, options);
    EvalOptions o = options;
    if (o.split.empty()) o.split = "val";
    require(!o.stride || predicts_every_token(o), "--stride is for --all and --text");
    const LanguageModel model = open_language_model({o.model, o.base, o.verify});
    const Subject subject = open_subject(o, model);
    const auto size = static_cast<std::int64_t>(subject.tokens.size());
    const Size context = model.config.size(Dimension::context);
    Windows windows{o.batch_size ? o.batch_size : 12, o.block_size.value_or(context), 0, 0};
    require(windows.length <= context, "--block-size is ", windows.length, ", wanted at most the model's ", context.key,
            " ", context.value);
    require(!o.stride || *o.stride <= windows.length, "--stride is ", o.stride.value_or(0),
            ", wanted at most the block size ", windows.length);
    if (!o.text.empty()) windows.length = std::min(windows.length, size - 1);
    require(size > windows.length, "data ", o.data, ": the split '", o.split, "' has ", size,
            " tokens, wanted more than the block size ", windows.length);
    windows.stride = std::min(o.stride.value_or(windows.length), windows.length);
    windows.count = predicts_every_token(o) ? batches_of_all(size, windows) : o.iters.value_or(200);
    Result result;
    catch_interrupts();
    with_device(common, [&](Device& device) { result = evaluate(device, common, o, model, windows, subject.tokens); });
    if (result.bytes && subject.bytes) result.bytes = subject.bytes;
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
