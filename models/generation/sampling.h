// Choice of the next token from its logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "ops/sampling/sample.h"

namespace vkf {

/// Defaults are nanoGPT's, with all tokens in the nucleus.
struct Sampling {
    double temperature = 0.8;         // 0: always the most likely token
    std::int64_t top_k = 200;         // 0: all
    double top_p = 1.0;               // 1: all
    double min_p = 0.0;               // 0: all
    double repetition_penalty = 1.0;  // 1: none

    bool operator==(const Sampling&) const = default;
};

/// Throws InputError naming the option, the value found and the value wanted.
void validate(const Sampling& sampling);

/// Probability of every token: softmax(logits / temperature) of the tokens that are kept, 0 for the others. First top_k
/// keeps the k largest logits and all that equal the smallest of them (as nanoGPT), then top_p keeps the most likely
/// tokens up to and including the one with which their sum reaches p, ties in order of the token, then min_p keeps
/// tokens at least min_p times as likely as the most likely one. Temperature 0 keeps the largest logit, the first of
/// equals. Numerics: double. Throws Error if a logit is not finite.
std::vector<double> probabilities(std::span<const float> logits, const Sampling& sampling);

/// Parameters for drawing one token, for the kernel and its equivalent on the host (ops/sampling/sample.h): draws among
/// tokens 0 … vocabulary − 1 by 53 random bits, with `probabilities` up to 2^-28 of each, if temperature is not 0.
/// Logits of tokens in the text are divided by the repetition penalty if they are positive, else multiplied by it, as
/// in CTRL (Keskar et al., 2019, section 4.1) and Hugging Face's generate.
SampleRow sample_row(const Sampling& sampling, std::int64_t vocabulary, Random& random, bool log_probability = false);

/// Draws a token on the host. Throws Error if a logit is not finite.
std::int32_t sample(std::span<const float> logits, const Sampling& sampling, Random& random);

}  // namespace vkf
