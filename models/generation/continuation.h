// A text that is being written after a prompt: the tokens chosen so far, their text, and the reason of its end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/generation/sampling.h"
#include "models/generation/stop_strings.h"
#include "models/tokenizers/text_decoder.h"

namespace vkf {

struct ContinuationOptions {
    Sampling sampling;
    std::int64_t max_new_tokens = 500;
    std::vector<std::string> stop;         // strings before which the text ends
    std::vector<std::int32_t> end_tokens;  // tokens before which the text ends
    std::int64_t vocabulary = 0;           // tokens are 0 … vocabulary − 1; other logits are padding
    bool log_probabilities = false;        // true: log_probabilities() are kept
    std::string model = "the model";       // name in messages
};

class Continuation {
public:
    /// `options` and the tokenizer must outlive the object. Without a tokenizer (null), texts are numbers of tokens.
    Continuation(const ContinuationOptions& options, const Tokenizer* tokenizer, Tokens prompt, Random random);

    /// Parameters for drawing the next token, with random bits that are not used again.
    SampleRow next_row();
    /// Tokens in prompt and text, if there is a repetition penalty: as `sample_token` takes them, for tokens
    /// 0 … vocabulary − 1.
    std::span<const std::int32_t> seen() const { return seen_; }
    /// Appends the drawn token; ends the text instead if there are enough tokens or the token ends texts.
    /// Throws: Error naming a logit that is not finite.
    void accept(const SampledToken& drawn);
    /// Draws the next token on the host from its logits [V], and accepts it.
    void advance(std::span<const float> logits) { accept(sample_token(logits, next_row(), seen_)); }
    /// Ends the text, unless it has ended.
    void interrupt(const char* reason = "interrupted");

    bool finished() const { return finish_reason_ != nullptr; }
    /// "length", "end_of_text", "stop" or the reason given to interrupt().
    const char* finish_reason() const { return finish_reason_; }

    const Tokens& prompt() const { return prompt_; }
    /// Tokens after the prompt, including those that complete a stop string.
    const Tokens& tokens() const { return tokens_; }
    /// Natural logarithm of the model's own probability of each of tokens(), if ContinuationOptions asks for it.
    const std::vector<double>& log_probabilities() const { return log_probabilities_; }
    /// Text after the prompt.
    const std::string& text() const { return text_; }
    /// Part of prompt and text that has become final since the last call.
    std::string take_shown();

private:
    void see(std::int32_t token);
    std::string shown(std::int32_t token);
    void pass_on(const std::string& text);
    void finish(const char* reason);

    const ContinuationOptions& options_;
    Tokens prompt_, tokens_;
    std::vector<std::int32_t> seen_;
    std::vector<double> log_probabilities_;
    std::optional<TextDecoder> decoder_;
    StopStrings stop_;
    Random random_;
    std::string text_, untaken_;
    const char* finish_reason_ = nullptr;
};

}  // namespace vkf
