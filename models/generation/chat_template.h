// Formats of conversations for chat models.
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

/// Marks turns as ChatML, Llama 2 or Llama 3 do, or not at all: turns are then lines.
class ChatTemplate {
public:
    /// Finds a template by its name. `tokenizer` must outlive the object.
    /// Throws: InputError if there is no such template, or naming a token that it needs and the tokenizer lacks.
    ChatTemplate(std::string_view name, const Tokenizer& tokenizer);

    std::string_view name() const;
    bool takes_system_message() const;

    /// Beginning of a conversation: the system message, if it is not empty, and the user's first turn, up to the
    /// answer. Messages are always text: the name of a special token in a message is not the token.
    /// Throws: InputError if a message is not UTF-8, or contains a mark of turns that is not a special token.
    Tokens first_turn(std::string_view system, std::string_view message) const;
    /// End of an answer, and the user's next turn.
    Tokens next_turn(std::string_view message) const;
    /// Tokens that end an answer.
    std::vector<std::int32_t> end_tokens() const;

private:
    std::optional<std::int32_t> token_of(std::string_view name) const;
    Tokens write(std::string_view pattern, std::string_view message) const;
    std::string checked(std::string_view message) const;

    const ChatFormat& format_;
    const Tokenizer& tokenizer_;
    std::vector<std::int32_t> marks_;  // added tokens in the patterns
};

std::vector<std::string> chat_template_names();

/// Template of a model, one of the known ones.
struct RecognisedTemplate {
    std::string name;
    std::string system;  // default system message; "" if there is none

    bool operator==(const RecognisedTemplate&) const = default;
};

/// Recognises the template of a model's directory by the marks in chat_template.jinja or in tokenizer_config.json's
/// "chat_template". The system message is the text between the marks of a system turn that the template writes by
/// itself. Returns "none" if there is no template, nothing if the template is of an unknown kind.
/// Throws: InputError naming a file that is broken.
std::optional<RecognisedTemplate> recognised_chat_template(const std::filesystem::path& model);

}  // namespace vkf
