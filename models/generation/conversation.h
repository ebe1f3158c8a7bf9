// A conversation with a model: turns that stay in the model's cache of keys and values.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "models/generation/chat_template.h"
#include "models/generation/continuation.h"
#include "models/generation/generate.h"

namespace vkf {

/// A turn is a user's message and the model's answer. Only new tokens are read. When the context is full, the oldest
/// turns are left out and the others are read again; the system message stays.
class Conversation {
public:
    /// The generator, of one row, the template and the tokenizer must outlive the conversation. Answers also end with
    /// the template's end tokens.
    Conversation(Generator& generator, const ChatTemplate& format, const Tokenizer& tokenizer, std::string system,
                 ContinuationOptions options);

    /// Reads a message. Leaves room for an answer of max_new_tokens, or of half a context if that is less, unless the
    /// message itself needs the room. Returns the number of old turns that were left out. Throws: InputError if the
    /// message cannot be encoded or is longer than the context; the message is then not part of the conversation.
    std::size_t listen(const std::string& message);
    /// Writes the answer. `show` gets the text that has become final, and ends the answer by returning false. The
    /// finish reason is "context" if the context is full.
    Continuation answer(Random random, const std::function<bool(const std::string&)>& show);

private:
    struct Turn {
        std::string message;
        Tokens answer;
    };
    Tokens without(std::size_t left_out, const std::string& message) const;

    Generator& generator_;
    const ChatTemplate& format_;
    const Tokenizer& tokenizer_;
    std::string system_;
    ContinuationOptions options_;
    std::vector<Turn> turns_;
    std::string message_;  // to be answered
    std::vector<float> logits_;
    Tokens unread_;  // end of the last answer
};

}  // namespace vkf
