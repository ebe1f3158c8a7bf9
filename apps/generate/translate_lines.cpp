#include "apps/generate/translate_lines.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "base/error.h"
#include "base/integers.h"
#include "models/translation/translation_settings.h"
#include "models/translation/translator.h"

namespace vkf {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// A line in tokens, with the end; without tokens if it is empty.
Tokens source_tokens(const TranslationModel& model, const std::string& line, const std::string& where) try {
    if (line.find_first_not_of(" \t\r") == std::string::npos) return {};
    Tokens tokens = model.tokenizers.source->encode(line);
    tokens.push_back(translation_tokens(model.config).end);
    const Size context = model.config.size(Dimension::context);
    require(std::ssize(tokens) <= context, "has ", tokens.size(), " tokens with its end, the model has ", context.key,
            " ", context.value);
    return tokens;
} catch (const InputError& error) {
    throw InputError(where, ": ", error.what());
}

/// Text of a hypothesis: without its end and other tokens that stand for no text, and without spaces at its ends.
std::string text_of(const Tokenizer& tokenizer, const Hypothesis& hypothesis) {
    Tokens tokens;
    for (const std::int32_t token : hypothesis.tokens) {
        const auto is_it = [&](const AddedToken& added) { return added.special && added.token == token; };
        if (std::cmp_less(token, tokenizer.size()) && std::ranges::none_of(tokenizer.added_tokens(), is_it))
            tokens.push_back(token);
    }
    std::string decoded = tokenizer.decode(tokens);
    decoded.erase(decoded.find_last_not_of(' ') + 1);
    decoded.erase(0, decoded.find_first_not_of(' '));
    return decoded;
}

TranslatorOptions translator_options(const Common& common, const TranslationModel& model, const TranslateOptions& o,
                                     std::int64_t sources, std::int64_t longest) {
    const std::int64_t context = model.config.size(Dimension::context);
    TranslatorOptions made{.activations = common.activations()};
    if (o.max_length) {
        made.per_source = 0;
        made.more = *o.max_length;
    }
    const auto target = static_cast<std::int64_t>(made.per_source * static_cast<double>(longest)) + made.more;
    made.shape = {.sources = std::min(o.batch_size, sources),
                  .beams = o.beam_size,
                  .source = longest,
                  .target = std::min(context, target)};
    made.search.alpha = o.length_penalty;
    made.search.penalty = o.length_penalty_kind == "gnmt" ? LengthPenalty::gnmt : LengthPenalty::power;
    made.search.rules = o.rules;
    made.search.vocabulary = static_cast<std::int64_t>(model.tokenizers.target->size());
    return made;
}

}  // namespace

void TranslateOptions::declare(cli::Command& command, const std::string& group) {
    command_ = &command;
    const auto grouped = [&](cli::Option option) {
        if (!group.empty()) option.group(group);
    };
    grouped(
        command.add_option("--beam-size", beam_size, "Hypotheses that are continued at a time; 1: the likeliest token")
            .type_name("K")
            .check(whole(1, 16))
            .capture_default_str());
    grouped(command
                .add_option("--length-penalty", length_penalty,
                            "Scores are divided by a function of the length, to this power; 0: longer ones lose")
                .type_name("X")
                .check(number({.least = -10, .most = 10}))
                .capture_default_str());
    grouped(command
                .add_option("--length-penalty-kind", length_penalty_kind,
                            "The function of length L: L, or (5 + L) / 6 as in Google's GNMT")
                .check(one_of({"power", "gnmt"}))
                .type_name("power|gnmt")
                .capture_default_str());
    grouped(command.add_option("--max-length", max_length, "Tokens of a translation (twice the source's, and 10)")
                .type_name("N")
                .check(whole(1)));
}

void TranslateOptions::take_defaults(const Common& common, const TranslationModel& model) {
    const TranslationSettings said = read_translation_settings(model.path, translation_tokens(model.config));
    std::string taken;
    const auto take = [&](const char* option, const auto& value, auto& place) {
        if (!value || command_->count(option) > 0) return;
        place = *value;
        taken += text(taken.empty() ? "" : ", ", option + 2, " ", *value);
    };
    take("--beam-size", said.beams, beam_size);
    take("--length-penalty", said.length_penalty, length_penalty);
    take("--max-length", said.longest, max_length);
    rules = said.rules;
    if (!taken.empty()) note(common, text(said.file.string(), " says ", taken, "; options go before it"));
}

Translations translate_lines(Device& device, const Common& common, const TranslationModel& model,
                             const std::vector<std::string>& lines, const TranslateOptions& options,
                             std::int64_t n_best, const std::function<std::string(std::size_t line)>& where) {
    std::vector<Tokens> sources;
    for (std::size_t i = 0; i < lines.size(); ++i) sources.push_back(source_tokens(model, lines[i], where(i)));
    std::vector<std::size_t> order(lines.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t i) { return sources[i].empty(); });
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return sources[i].size(); });
    Translations made{.sources = sources, .lines = std::vector<std::vector<Translation>>(lines.size())};
    if (order.empty()) return made;

    const TranslatorOptions how =
        translator_options(common, model, options, std::ssize(order), std::ssize(sources[order.front()]));
    Translator translator(device, model.config, how);
    model.load(translator.parameters(), translator.state());
    Progress progress(common, "translate", "sentences", std::ssize(order));
    const auto start = SteadyClock::now();
    for (std::size_t first = 0; first < order.size(); first += as_index(how.shape.sources)) {
        const std::size_t end = std::min(order.size(), first + as_index(how.shape.sources));
        std::vector<Tokens> batch;
        for (std::size_t i = first; i < end; ++i) batch.push_back(sources[order[i]]);
        const auto found = translator.translate(batch, n_best, [] { return !interrupted(); });
        stop_if_interrupted();
        for (std::size_t i = first; i < end; ++i)
            for (const Hypothesis& hypothesis : found[i - first])
                made.lines[order[i]].push_back({text_of(*model.tokenizers.target, hypothesis), hypothesis});
        for (const auto& hypotheses : found) made.tokens += std::ssize(hypotheses.front().tokens);
        progress.update(static_cast<std::int64_t>(end), text(made.tokens, " tokens"));
    }
    made.seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
    return made;
}

}  // namespace vkf
