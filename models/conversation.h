// A conversation with a model: turns that stay in its cache of keys and values.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "models/chat_template.h"
#include "models/continuation.h"
#include "models/generate.h"

namespace vkf {

/// A turn is a message of the user's and the model's answer to it. Only what is new is read. Where the context is full,
/// its oldest turns are left out and the others read anew; the system message stays.
class Conversation {
public:
    /// The generator, of one row, the template and the tokenizer must outlive it. Answers end with the template's
    /// tokens, too.
    Conversation(Generator& generator, const ChatTemplate& format, const Tokenizer& tokenizer, std::string system,
                 ContinuationOptions options);

    /// Reads a message. There is room then for an answer of max_new_tokens, or of half a context if that is less,
    /// unless the message itself takes it. Returns how many old turns were left out for that. Throws: InputError if the
    /// message cannot be written down or is longer than the context; then it was never said.
    std::size_t listen(const std::string& message);
    /// Answers it. `show` is handed what has become sure of the answer and says whether to go on. The answer's finish
    /// reason is "context" where that is full.
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
    std::string message_;  // that is to be answered
    std::vector<float> logits_;
    Tokens unread_;  // the end of the last answer
};

}  // namespace vkf
