// vkformer fill: the likeliest words at marks in texts, by a model that predicts hidden words.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/model.h"
#include "base/error.h"
#include "base/text/json.h"
#include "models/language_model.h"
#include "models/masked_language_model.h"
#include "program/compiled_graph.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

constexpr std::string_view MARK = "[MASK]";

struct FillOptions {
    std::string model, base;
    bool verify = true;
    std::vector<std::string> texts;
    std::int64_t top_k = 5;
};

/// A text with marks.
struct MarkedText {
    std::string text;
    std::vector<std::string> parts;  // text before, between and after the marks
    Tokens tokens;
    std::vector<std::size_t> marks;  // places of the marks among the tokens
};

struct Candidate {
    std::int32_t token;
    double probability;
};

/// Cuts a text at its marks, [MASK] and the tokenizer's own name.
std::vector<std::string> cut_at_marks(std::string_view text, std::string_view own_name) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t plain = text.find(MARK), own = text.find(own_name), at = std::min(plain, own);
        parts.emplace_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + (plain <= own ? MARK : own_name).size());
    }
}

/// True if the space before a word is part of the word's token.
bool words_begin_with_space(const Tokenizer& tokenizer) {
    for (std::size_t token = 0; token < tokenizer.size(); ++token) {
        const std::string bytes = tokenizer.bytes(static_cast<std::int32_t>(token));
        if (bytes.size() > 1 && bytes[0] == ' ' && bytes[1] != ' ') return true;
    }
    return false;
}

/// Tokens of a text as the model has read texts in training: a mark stands for a whole token, with the space before it
/// if tokens begin with one.
MarkedText encode_marked(const LanguageModel& model, const std::string& words, const std::string& source) try {
    const Tokenizer& tokenizer = **model.tokenizer;
    const AddedToken* own = mask_token(tokenizer);
    MarkedText made{words, cut_at_marks(words, own ? own->text : MARK), {}, {}};
    require(made.parts.size() > 1, "there is no ", MARK, " in it");
    if (words_begin_with_space(tokenizer))
        for (std::size_t i = 0; i + 1 < made.parts.size(); ++i)
            if (made.parts[i].ends_with(' ')) made.parts[i].pop_back();
    if (const auto begin = tokenizer.begin_of_text()) made.tokens.push_back(*begin);
    for (std::size_t i = 0; i < made.parts.size(); ++i) {
        if (i > 0) {
            made.marks.push_back(made.tokens.size());
            made.tokens.push_back(static_cast<std::int32_t>(model.config.size(Dimension::mask_token)));
        }
        std::string_view part = made.parts[i];
        if (i > 0 && tokenizer.prepends_space() && part.starts_with(' ')) part.remove_prefix(1);
        const Tokens tokens = tokenizer.encode(part);
        made.tokens.insert(made.tokens.end(), tokens.begin(), tokens.end());
    }
    if (const auto closing = tokenizer.closing_token()) made.tokens.push_back(*closing);
    const Size context = model.config.size(Dimension::context);
    require(std::ssize(made.tokens) <= context, "it has ", made.tokens.size(), " tokens, wanted at most the model's ",
            context.key, " ", context.value);
    return made;
} catch (const InputError& error) {
    throw InputError(source, ": ", error.what());
}

/// Computes logits of texts of any length, by programs that share one set of weights.
class MarkedTextReader {
public:
    MarkedTextReader(Device& device, const LanguageModel& model, Format activations)
        : device_(device), model_(model), activations_(activations), state_(device) {}

    /// Logits at every token, [T, V].
    std::vector<float> logits(const Tokens& tokens) {
        Program& program = program_for(std::ssize(tokens));
        program.write("tokens", tokens);
        program.run();
        return program.read("logits");
    }

private:
    Program& program_for(std::int64_t length) {
        std::unique_ptr<CompiledGraph>& made = programs_[length];
        if (made) return made->program;
        const bool first = programs_.size() == 1;
        made = std::make_unique<CompiledGraph>(device_, state_, activations_, [&](Graph& graph) {
            const Tensor tokens = graph.input("tokens", {DType::i32, {1, length}});
            graph.output("logits", language_logits(Scope(graph, parameters_), model_.config, tokens));
        });
        if (first) model_.load(parameters_, state_);
        return made->program;
    }

    Device& device_;
    const LanguageModel& model_;
    Format activations_;
    State state_;
    Parameters parameters_;
    std::map<std::int64_t, std::unique_ptr<CompiledGraph>> programs_;  // programs by length
};

/// The `count` likeliest of the first `vocabulary` tokens, which have a meaning; probabilities are among all tokens.
/// Throws Error if a logit is not finite.
std::vector<Candidate> likeliest(std::span<const float> logits, std::int64_t vocabulary, std::int64_t count) {
    const auto top = static_cast<double>(*std::ranges::max_element(logits));
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
    if (!std::isfinite(sum)) throw Error("a logit of the model is not finite");
    std::vector<Candidate> all;
    for (std::int64_t token = 0; token < vocabulary; ++token)
        all.push_back({static_cast<std::int32_t>(token),
                       std::exp(static_cast<double>(logits[static_cast<std::size_t>(token)]) - top) / sum});
    const auto kept = all.begin() + std::min(count, vocabulary);
    std::ranges::partial_sort(all, kept, [](const Candidate& a, const Candidate& b) {
        return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
    });
    all.erase(kept, all.end());
    return all;
}

/// The text with each mark's likeliest word.
std::string filled_text(const MarkedText& marked, const std::vector<std::vector<Candidate>>& found,
                        const Tokenizer& tokenizer) {
    std::string filled = marked.parts.front();
    for (std::size_t i = 0; i < found.size(); ++i)
        filled += tokenizer.bytes(found[i].front().token) + marked.parts[i + 1];
    if (filled.starts_with(' ') && !marked.text.starts_with(' ')) filled.erase(0, 1);
    return filled;
}

nlohmann::ordered_json marks_json(const std::vector<std::vector<Candidate>>& found, const Tokenizer& tokenizer) {
    nlohmann::ordered_json marks = nlohmann::ordered_json::array();
    for (const std::vector<Candidate>& candidates : found) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const auto& [token, probability] : candidates)
            list.push_back({{"token", token}, {"text", tokenizer.bytes(token)}, {"probability", probability}});
        marks.push_back(std::move(list));
    }
    return marks;
}

std::string marks_table(const std::vector<std::vector<Candidate>>& found, const Tokenizer& tokenizer) {
    std::vector<std::vector<std::string>> rows{{"mark", "token", "probability"}};
    for (std::size_t i = 0; i < found.size(); ++i)
        for (const auto& [token, probability] : found[i])
            rows.push_back(
                {std::to_string(i + 1), one_line(nlohmann::json(tokenizer.bytes(token))), percent_text(probability)});
    return table(rows);
}

void fill_texts(Device& device, const Common& common, const LanguageModel& model, std::span<const MarkedText> texts,
                std::int64_t top_k) {
    const Tokenizer& tokenizer = **model.tokenizer;
    const auto width = static_cast<std::size_t>(model.config.size(Dimension::vocab_size).value);
    MarkedTextReader reader(device, model, common.activations());
    nlohmann::ordered_json document{{"texts", nlohmann::ordered_json::array()}};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        stop_if_interrupted();
        const std::vector<float> logits = reader.logits(texts[i].tokens);
        std::vector<std::vector<Candidate>> found;
        for (const std::size_t mark : texts[i].marks)
            found.push_back(likeliest(std::span(logits).subspan(mark * width, width), model.vocabulary(), top_k));
        const std::string filled = filled_text(texts[i], found, tokenizer);
        if (common.json)
            document["texts"].push_back(
                {{"text", texts[i].text}, {"filled", filled}, {"marks", marks_json(found, tokenizer)}});
        else
            print(text(i > 0 ? "\n" : "", filled, '\n', marks_table(found, tokenizer)));
    }
    if (common.json) print_json(document);
}

void run_fill(const Common& common, const FillOptions& o) {
    const LanguageModel model = open_language_model({o.model, o.base, o.verify});
    require(model.config.has(Dimension::mask_token), "model ", o.model, ": a ", model.family().title,
            " does not predict hidden words");
    require(model.tokenizer.has_value(), "model ", o.model, " has no tokenizer, which fill needs");
    require(model.config.size(Dimension::mask_token) >= 0, "model ", o.model,
            ": 'mask_token_id' is missing in config.json, and the tokenizer has neither [MASK] nor <mask>");
    std::vector<MarkedText> texts;
    for (const std::string& words : o.texts)
        texts.push_back(
            encode_marked(model, words, o.texts.size() == 1 ? "the text" : text("text ", texts.size() + 1)));
    catch_interrupts();
    with_device(common, [&](Device& device) { fill_texts(device, common, model, texts, o.top_k); });
}

}  // namespace

void add_fill(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("fill", "The likeliest words for [MASK] in texts");
    auto o = std::make_shared<FillOptions>();
    command.add_option("--model,model", o->model, "Model directory, as of `train bert`").required().type_name("DIR");
    command
        .add_option("--text,text", o->texts,
                    "Text with [MASK], or the tokenizer's own name of it, for each hidden word; may be given several "
                    "times, as --text")
        .required()
        .type_name("TEXT")
        .one_word_each();  // else the parser takes the brackets of [MASK] for those of a list
    command.add_option("--top-k", o->top_k, "Words to name for each mark")
        .type_name("K")
        .check(whole(1))
        .capture_default_str();
    add_base_option(command, o->base);
    add_verify_option(command, o->verify);
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer fill out 'To be or not to [MASK]'\n"
        "  vkformer fill out 'To [MASK] or not to [MASK]' --text '[MASK] be' --top-k 3 --json\n"
        "\n"
        "A mark stands for one token: a word, a part of one, or a character, as the model's tokenizer divides texts.\n"
        "If its tokens begin with the space before a word, a mark stands for that space too.");
    command.callback([o, &common] { run_fill(common, *o); });
}

}  // namespace vkf
