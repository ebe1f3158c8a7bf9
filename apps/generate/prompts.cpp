#include "apps/generate/prompts.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/text/json.h"

namespace vkf {

namespace {

struct GivenText {
    std::string source, text;
};

std::string prompt_of(const std::string& line, const std::string& where) {
    const nlohmann::json object = parse_json(line, where);
    require(object.is_object() && object.contains("prompt"), where, ": found ", one_line(object),
            ", wanted an object with the key \"prompt\"");
    require(object["prompt"].is_string(), where, ": \"prompt\" is ", one_line(object["prompt"]), ", wanted a string");
    return object["prompt"].get<std::string>();
}

std::vector<GivenText> read_list(const std::string& path) {
    std::vector<GivenText> prompts;
    std::istringstream lines(read_text(path));
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with('\r')) line.pop_back();
        const std::string where = text(path, ": line ", prompts.size() + 1);
        prompts.push_back({where, path.ends_with(".jsonl") ? prompt_of(line, where) : line});
    }
    require(!prompts.empty(), path, " is empty, wanted a prompt on every line");
    return prompts;
}

std::vector<GivenText> given_texts(const PromptOptions& options) {
    if (!options.file.empty()) {
        const bool standard_input = options.file == "-";
        return {{standard_input ? "standard input" : options.file,
                 standard_input ? read_standard_input() : read_text(options.file)}};
    }
    std::vector<GivenText> prompts;
    for (const std::string& words : options.texts)
        prompts.push_back({options.texts.size() == 1 ? "the prompt" : text("prompt ", prompts.size() + 1), words});
    if (!options.list.empty())
        for (GivenText& words : read_list(options.list)) prompts.push_back(std::move(words));
    if (prompts.empty()) prompts.push_back({"the prompt", "\n"});
    return prompts;
}

/// Tokens of a prompt, preceded by the token that the model needs at the beginning of texts.
Prompt encode(const Tokenizer& tokenizer, const GivenText& words) try {
    Tokens tokens;
    const auto begin = tokenizer.begin_of_text();
    const Tokens read = tokenizer.encode(words.text, SpecialNames::tokens);
    const bool begun = begin && !read.empty() && read.front() == *begin;  // the prompt may contain it already
    if (begin && !begun) tokens.push_back(*begin);
    tokens.insert(tokens.end(), read.begin(), read.end());
    require(!tokens.empty(), "there is no token to start from: the tokenizer leaves nothing of the text");
    return {words.source, tokens};
} catch (const InputError& error) {
    throw InputError(words.source, ": ", error.what());
}

}  // namespace

void PromptOptions::declare(cli::Command& command) {
    command.add_option("--prompt", texts, "Text to continue (a line end); may be given several times")
        .type_name("TEXT")
        .one_word_each();
    command
        .add_option("--prompts", list, "File with a text to continue on every line; .jsonl: objects with a \"prompt\"")
        .type_name("FILE");
    command.add_option("--file", file, "File with the text to continue; - is standard input")
        .type_name("FILE")
        .excludes("--prompt")
        .excludes("--prompts");
    command.add_option("--prompt-tokens", tokens, "Tokens to continue, as 1,2,3")
        .type_name("N,N,...")
        .check(whole(0, std::numeric_limits<std::int32_t>::max()))
        .delimiter(',')
        .excludes("--prompt")
        .excludes("--prompts")
        .excludes("--file");
}

std::vector<Prompt> read_prompts(const PromptOptions& options, const LanguageModel& model) {
    std::vector<Prompt> prompts;
    if (!options.tokens.empty()) {
        prompts.push_back({"prompt", options.tokens});
    } else {
        require(model.tokenizer.has_value(), "model ", model.path.string(),
                " has no tokenizer (tokenizer.json, chars.json, …), so it reads no text; give --prompt-tokens");
        for (const GivenText& words : given_texts(options)) {
            require(!words.text.empty(), words.source, " is empty, wanted at least one character");
            prompts.push_back(encode(**model.tokenizer, words));
        }
    }
    for (const auto& [source, tokens] : prompts)
        for (std::size_t i = 0; i < tokens.size(); ++i)
            require(tokens[i] >= 0 && tokens[i] < model.vocabulary(), source, ": token ", i, " is ", tokens[i],
                    ", wanted 0 to ", model.vocabulary() - 1, " (", model.config.size(Dimension::vocab_size).key, " ",
                    model.vocabulary(), ")");
    return prompts;
}

}  // namespace vkf
