// A text that is being written behind a prompt: the tokens chosen so far, what they say, and why it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/sampling.h"
#include "models/stop_strings.h"
#include "models/tokenizers/text_decoder.h"

namespace vkf {

struct ContinuationOptions {
    Sampling sampling;
    std::int64_t max_new_tokens = 500;
    std::vector<std::string> stop;         // it ends before one of these,
    std::vector<std::int32_t> end_tokens;  // and before one of these
    std::int64_t vocabulary = 0;           // it is of tokens 0 … vocabulary − 1; what else has logits is padding
    bool log_probabilities = false;        // whether they are wanted
    std::string model = "the model";       // as messages name it
};

class Continuation {
public:
    /// `options` and the tokenizer must outlive it; without a tokenizer (null), texts are the numbers of tokens.
    Continuation(const ContinuationOptions& options, const Tokenizer* tokenizer, Tokens prompt, Random random);

    /// How the next token is to be drawn, by random bits that are not given out again.
    SampleRow next_row();
    /// Which tokens it has, if that matters: as `sample_token` takes them, for tokens 0 … vocabulary − 1.
    std::span<const std::int32_t> seen() const { return seen_; }
    /// Goes on with the token that was drawn, unless there are enough, in which case the text ends.
    /// Throws: Error naming a logit that is not finite.
    void accept(const SampledToken& drawn);
    /// Draws the next token on the host by its logits [V], and goes on with it.
    void advance(std::span<const float> logits) { accept(sample_token(logits, next_row(), seen_)); }
    /// Ends the text where it is, unless it has ended.
    void interrupt(const char* reason = "interrupted");

    bool finished() const { return finish_reason_ != nullptr; }
    /// "length", "end_of_text", "stop" or what interrupted it.
    const char* finish_reason() const { return finish_reason_; }

    const Tokens& prompt() const { return prompt_; }
    /// Those behind the prompt; of a stop string, those that complete it among them.
    const Tokens& tokens() const { return tokens_; }
    /// The model's own of each of them, natural logarithms; if they are wanted.
    const std::vector<double>& log_probabilities() const { return log_probabilities_; }
    /// What stands behind the prompt.
    const std::string& text() const { return text_; }
    /// What has become sure of prompt and text since the last call.
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
