#include "models/generation/continuation.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace vkf {

Continuation::Continuation(const ContinuationOptions& options, const Tokenizer* tokenizer, Tokens prompt, Random random)
    : options_(options), prompt_(std::move(prompt)), stop_(options.stop), random_(random) {
    if (tokenizer) decoder_.emplace(*tokenizer);
    seen_.resize(static_cast<std::size_t>(seen_words(options.vocabulary)));
    for (const std::int32_t token : prompt_) {
        see(token);
        untaken_ += shown(token);
    }
}

void Continuation::see(std::int32_t token) {
    if (options_.sampling.repetition_penalty == 1) return;
    require(token >= 0 && token < options_.vocabulary, "token ", token, " has no logit; there are ",
            options_.vocabulary);
    seen_[static_cast<std::size_t>(token / 32)] |= static_cast<std::int32_t>(1U << token % 32);
}

std::string Continuation::shown(std::int32_t token) {
    return decoder_ ? decoder_->feed(token) : vkf::text(token, ' ');
}

void Continuation::pass_on(const std::string& text) {
    text_ += text;
    untaken_ += text;
}

std::string Continuation::take_shown() {
    return std::exchange(untaken_, {});
}

SampleRow Continuation::next_row() {
    return sample_row(options_.sampling, options_.vocabulary, random_, options_.log_probabilities);
}

void Continuation::accept(const SampledToken& drawn) {
    const std::int32_t token = drawn.token;
    if (token < 0) throw Error(options_.model, ": the logit of token ", -1 - token, " is ", drawn.logit);
    if (std::ssize(tokens_) >= options_.max_new_tokens) return finish("length");
    if (std::ranges::find(options_.end_tokens, token) != options_.end_tokens.end()) return finish("end_of_text");
    tokens_.push_back(token);
    see(token);
    if (options_.log_probabilities) log_probabilities_.push_back(drawn.log_probability());
    pass_on(stop_.feed(shown(token)));
    if (stop_.found() || std::ssize(tokens_) == options_.max_new_tokens) finish("length");
}

void Continuation::interrupt(const char* reason) {
    if (!finished()) finish(reason);
}

void Continuation::finish(const char* reason) {
    pass_on(stop_.feed(decoder_ ? decoder_->finish() : ""));
    pass_on(stop_.finish());
    finish_reason_ = stop_.found() ? "stop" : reason;
}

}  // namespace vkf
