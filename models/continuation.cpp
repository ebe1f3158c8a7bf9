#include "models/continuation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace vkf {

Continuation::Continuation(const ContinuationOptions& options, const Tokenizer* tokenizer, Tokens prompt, Random random)
    : options_(options), prompt_(std::move(prompt)), stop_(options.stop), random_(random) {
    if (tokenizer) decoder_.emplace(*tokenizer);
    for (const std::int32_t token : prompt_) untaken_ += shown(token);
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

void Continuation::advance(std::span<const float> logits) {
    const auto known = logits.first(static_cast<std::size_t>(options_.vocabulary));
    const auto bad = std::ranges::find_if(known, [](float x) { return !std::isfinite(x); });
    if (bad != known.end()) throw Error(options_.model, ": the logit of token ", bad - known.begin(), " is ", *bad);
    if (std::ssize(tokens_) >= options_.max_new_tokens) return finish("length");

    std::vector<float> penalized;
    if (options_.sampling.repetition_penalty != 1) {
        penalized.assign(known.begin(), known.end());
        Tokens before = prompt_;
        before.insert(before.end(), tokens_.begin(), tokens_.end());
        penalize_repetition(penalized, before, options_.sampling.repetition_penalty);
    }
    const std::int32_t token = sample(penalized.empty() ? known : penalized, options_.sampling, random_);
    if (std::ranges::find(options_.end_tokens, token) != options_.end_tokens.end()) return finish("end_of_text");
    tokens_.push_back(token);
    if (options_.log_probabilities) log_probabilities_.push_back(log_probability(logits, token));
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
