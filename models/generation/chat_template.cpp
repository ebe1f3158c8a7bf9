#include "models/generation/chat_template.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "models/config/field.h"

namespace vkf {

namespace fs = std::filesystem;

/// Patterns are texts with {names} in braces: {begin}, if the model has it, and {end} are the tokens that begin and end
/// texts, {message} is the message, other names are added tokens.
struct ChatFormat {
    std::string_view name;
    std::string_view recognised_by;             // identifies the format in a chat_template
    std::string_view begin;                     // before everything
    std::string_view system;                    // the system message
    std::string_view within;                    // or the text around it, before the user's first message
    std::string_view user;                      // a user's turn, up to the answer
    std::string_view after_answer;              // after an answer
    std::vector<std::string_view> ends;         // tokens that end an answer, in addition to {end}
    std::vector<std::string_view> plain_marks;  // marks of turns that are plain text
    bool strips = false;                        // removes white space at both ends of messages
};

namespace {

constexpr std::string_view BEGIN = "{begin}", END = "{end}", MESSAGE = "{message}";

const std::array FORMATS{
    ChatFormat{.name = "chatml",
               .recognised_by = "<|im_start|>",
               .begin = "{begin}",
               .system = "{<|im_start|>}system\n{message}{<|im_end|>}\n",
               .within = "",
               .user = "{<|im_start|>}user\n{message}{<|im_end|>}\n{<|im_start|>}assistant\n",
               .after_answer = "{<|im_end|>}\n",
               .ends = {"<|im_end|>"},
               .plain_marks = {}},
    ChatFormat{.name = "llama3",
               .recognised_by = "<|start_header_id|>",
               .begin = "{begin}",
               .system = "{<|start_header_id|>}system{<|end_header_id|>}\n\n{message}{<|eot_id|>}",
               .within = "",
               .user = "{<|start_header_id|>}user{<|end_header_id|>}\n\n{message}{<|eot_id|>}"
                       "{<|start_header_id|>}assistant{<|end_header_id|>}\n\n",
               .after_answer = "{<|eot_id|>}",
               .ends = {"<|eot_id|>"},
               .plain_marks = {},
               .strips = true},
    ChatFormat{.name = "llama2",
               .recognised_by = "[INST]",
               .begin = "",
               .system = "",
               .within = "<<SYS>>\n{message}\n<</SYS>>\n\n",
               .user = "{begin}[INST] {message} [/INST]",
               .after_answer = "{end}",
               .ends = {},
               .plain_marks = {"[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"},
               .strips = true},
    ChatFormat{.name = "none",
               .recognised_by = "",
               .begin = "{begin}",
               .system = "",
               .within = "",
               .user = "{message}\n",
               .after_answer = "\n",
               .ends = {},
               .plain_marks = {}},
};

const ChatFormat& format_named(std::string_view name) {
    for (const ChatFormat& format : FORMATS)
        if (format.name == name) return format;
    throw InputError("unknown chat template '", name, "'; there are: ", listed(chat_template_names()));
}

/// Takes a name in braces, or the text before the next one, from the front of a pattern.
std::string_view take_part(std::string_view& pattern) {
    const std::size_t end =
        pattern.starts_with('{') ? pattern.find('}') + 1 : std::min(pattern.find('{'), pattern.size());
    const std::string_view part = pattern.substr(0, end);
    pattern.remove_prefix(end);
    return part;
}

std::string_view stripped(std::string_view words) {
    constexpr std::string_view white = " \t\n\v\f\r";
    const std::size_t first = words.find_first_not_of(white);
    return first == words.npos ? "" : words.substr(first, words.find_last_not_of(white) + 1 - first);
}

/// Text of "chat_template"; of several templates with names, the text of the one called default.
std::string template_text(const nlohmann::json& config, const std::string& file) {
    if (!config.is_object() || !config.contains("chat_template")) return {};
    const nlohmann::json& found = config["chat_template"];
    if (found.is_string()) return found.get<std::string>();
    if (found.is_null()) return {};
    const auto is_default = [](const nlohmann::json& one) {
        return one.is_object() && one.value("name", nlohmann::json()) == "default" && one.contains("template") &&
               one["template"].is_string();
    };
    if (found.is_array())
        if (const auto one = std::ranges::find_if(found, is_default); one != found.end())
            return (*one)["template"].get<std::string>();
    throw InputError(file, ": \"chat_template\" is ", one_line(found),
                     ", wanted a text, or several with one \"default\"");
}

/// A pattern's text as Jinja writes it: marks without braces.
std::string plain(std::string_view pattern) {
    std::string words;
    for (const char c : pattern)
        if (c != '{' && c != '}') words += c;
    return words;
}

/// Jinja's text up to `end`, with the escapes of a quoted string resolved; nothing if the string ends earlier, since
/// something else follows, such as a message. With `quote` 0, the text is outside of strings.
std::optional<std::string> literal_up_to(std::string_view jinja, std::string_view end, char quote) {
    std::string words;
    while (!jinja.empty() && !jinja.starts_with(end)) {
        if (quote != 0 && jinja.front() == quote) return {};
        if (quote == 0 && (jinja.starts_with("{{") || jinja.starts_with("{%"))) return {};
        const bool escape = quote != 0 && jinja.front() == '\\' && jinja.size() > 1;
        if (escape) jinja.remove_prefix(1);
        words += escape && jinja.front() == 'n' ? '\n' : escape && jinja.front() == 't' ? '\t' : jinja.front();
        jinja.remove_prefix(1);
    }
    return jinja.empty() ? std::nullopt : std::optional(words);
}

/// Text of a system turn that a template writes by itself if there is no system message.
std::string default_system_message(std::string_view jinja, const ChatFormat& format) {
    const std::size_t message = format.system.find(MESSAGE);
    if (message == format.system.npos) return {};
    const std::string before = plain(format.system.substr(0, message)), mark = before.substr(0, before.find('\n'));
    std::string_view rest = format.system.substr(message + MESSAGE.size());
    const std::string end = plain(take_part(rest)), line_ends = before.substr(mark.size());
    for (std::size_t at = 0; (at = jinja.find(mark, at)) != jinja.npos; at += mark.size()) {
        const char first = at > 0 ? jinja[at - 1] : ' ';
        const char quote = first == '\'' || first == '"' ? first : '\0';
        const auto turn = literal_up_to(jinja.substr(at + mark.size()), end, quote);
        if (turn && turn->starts_with(line_ends) && turn->size() > line_ends.size())
            return turn->substr(line_ends.size());
    }
    return {};
}

}  // namespace

std::vector<std::string> chat_template_names() {
    std::vector<std::string> names;
    for (const ChatFormat& format : FORMATS) names.emplace_back(format.name);
    return names;
}

ChatTemplate::ChatTemplate(std::string_view name, const Tokenizer& tokenizer)
    : format_(format_named(name)), tokenizer_(tokenizer) {
    for (std::string_view pattern : {format_.system, format_.user, format_.after_answer}) {
        while (!pattern.empty()) {
            const std::string_view part = take_part(pattern);
            if (!part.starts_with('{') || part == BEGIN || part == MESSAGE) continue;
            const auto token = token_of(part);
            const std::string wanted =
                part == END ? "one that ends texts" : std::string(part.substr(1, part.size() - 2));
            require(token.has_value(), "the chat template ", name,
                    " needs a token that the model's tokenizer lacks: ", wanted);
            marks_.push_back(token.value_or(0));
        }
    }
}

std::string_view ChatTemplate::name() const {
    return format_.name;
}

bool ChatTemplate::takes_system_message() const {
    return !format_.system.empty() || !format_.within.empty();
}

std::optional<std::int32_t> ChatTemplate::token_of(std::string_view part) const {
    if (part == BEGIN) return tokenizer_.begin_of_text();
    if (part == END) return tokenizer_.end_of_text();
    return tokenizer_.added_token(part.substr(1, part.size() - 2));
}

Tokens ChatTemplate::write(std::string_view pattern, std::string_view message) const {
    Tokens tokens;
    std::string words;
    const auto encode = [&] {
        for (const std::int32_t token : words.empty() ? Tokens() : tokenizer_.encode(words)) {
            const bool mark = std::ranges::find(marks_, token) != marks_.end();
            require(!mark, "a message holds ", tokenizer_.bytes(mark ? token : 0), ", which marks turns");
            tokens.push_back(token);
        }
        words.clear();
    };
    while (!pattern.empty()) {
        const std::string_view part = take_part(pattern);
        if (part == MESSAGE) {
            words += message;
        } else if (part.starts_with('{')) {
            encode();
            if (const auto token = token_of(part)) tokens.push_back(*token);
        } else {
            words += part;
        }
    }
    encode();
    return tokens;
}

std::string ChatTemplate::checked(std::string_view message) const {
    for (const std::string_view mark : format_.plain_marks)
        require(message.find(mark) == message.npos, "a message holds ", mark, ", which marks turns");
    return std::string(format_.strips ? stripped(message) : message);
}

Tokens ChatTemplate::first_turn(std::string_view system, std::string_view message) const {
    std::string said = checked(message), told = checked(system);
    Tokens tokens = write(format_.begin, "");
    const auto append = [&](const Tokens& more) {
        // Some models' texts begin with the mark of a turn.
        const bool there = tokens.size() == 1 && !more.empty() && tokens[0] == more[0];
        tokens.insert(tokens.end(), more.begin() + (there ? 1 : 0), more.end());
    };
    if (!told.empty()) {
        append(write(format_.system, told));
        std::string within(format_.within);
        if (const std::size_t at = within.find(MESSAGE); at != within.npos)
            said = within.replace(at, MESSAGE.size(), told) + said;
    }
    append(write(format_.user, said));
    return tokens;
}

Tokens ChatTemplate::next_turn(std::string_view message) const {
    Tokens tokens = write(format_.after_answer, "");
    const Tokens turn = write(format_.user, checked(message));
    tokens.insert(tokens.end(), turn.begin(), turn.end());
    return tokens;
}

std::vector<std::int32_t> ChatTemplate::end_tokens() const {
    std::vector<std::int32_t> tokens;
    for (const std::string_view name : format_.ends)
        if (const auto token = tokenizer_.added_token(name)) tokens.push_back(*token);
    if (const auto token = tokenizer_.end_of_text()) tokens.push_back(*token);
    return tokens;
}

std::optional<RecognisedTemplate> recognised_chat_template(const fs::path& model) {
    const fs::path jinja = model / "chat_template.jinja", config = model / "tokenizer_config.json";
    std::string found;
    if (file_exists(jinja))
        found = read_small_text(jinja);
    else if (file_exists(config))
        found = template_text(parse_json(read_small_text(config), config.string()), config.string());
    if (found.empty()) return RecognisedTemplate{"none", {}};
    for (const ChatFormat& format : FORMATS)
        if (!format.recognised_by.empty() && found.find(format.recognised_by) != found.npos)
            return RecognisedTemplate{std::string(format.name), default_system_message(found, format)};
    return {};
}

}  // namespace vkf
