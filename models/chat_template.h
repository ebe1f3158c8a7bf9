// How a conversation is written down for a model that has been taught to converse.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

struct ChatFormat;

/// ChatML, Llama 2's and Llama 3's ways to mark turns, or none: turns are lines.
class ChatTemplate {
public:
    /// By its name. `tokenizer` must outlive it.
    /// Throws: InputError if there is no template of that name, or naming the token that the tokenizer lacks for it.
    ChatTemplate(std::string_view name, const Tokenizer& tokenizer);

    std::string_view name() const;
    bool takes_system_message() const;

    /// What a conversation begins with: the system message, if it is not empty, and the user's first turn, up to where
    /// the answer begins. Messages are text, whatever they look like: the name of a special token is not the token.
    /// Throws: InputError if one is not UTF-8, or holds what marks turns here and is no special token.
    Tokens first_turn(std::string_view system, std::string_view message) const;
    /// What stands behind an answer, and the user's next turn.
    Tokens next_turn(std::string_view message) const;
    /// Tokens that end an answer.
    std::vector<std::int32_t> end_tokens() const;

private:
    std::optional<std::int32_t> token_of(std::string_view name) const;
    Tokens write(std::string_view pattern, std::string_view message) const;
    std::string checked(std::string_view message) const;

    const ChatFormat& format_;
    const Tokenizer& tokenizer_;
    std::vector<std::int32_t> marks_;  // the added tokens of its patterns
};

std::vector<std::string> chat_template_names();

/// A model's own template, as far as it is known here.
struct RecognisedTemplate {
    std::string name;
    std::string system;  // the message that it begins conversations with where there is no other; or ""

    bool operator==(const RecognisedTemplate&) const = default;
};

/// The template of a model's directory: by the marks in chat_template.jinja or in tokenizer_config.json's
/// "chat_template". Its system message is the text between the marks of a system turn that it writes by itself. "none"
/// if there is neither, nothing if it is of no kind that there is here.
/// Throws: InputError naming a file that is broken.
std::optional<RecognisedTemplate> recognised_chat_template(const std::filesystem::path& model);

}  // namespace vkf
