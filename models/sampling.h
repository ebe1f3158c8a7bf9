// The choice of the next token from its logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "ops/sample.h"

namespace vkf {

/// nanoGPT's defaults, and all tokens for the nucleus.
struct Sampling {
    double temperature = 0.8;         // 0: always the likeliest token
    std::int64_t top_k = 200;         // 0: all
    double top_p = 1.0;               // 1: all
    double min_p = 0.0;               // 0: all
    double repetition_penalty = 1.0;  // 1: none

    bool operator==(const Sampling&) const = default;
};

/// Throws InputError naming the option, the value found and the value wanted.
void validate(const Sampling& sampling);

/// The probability of every token: softmax(logits / temperature) of the tokens that are left, 0 for
/// the others. First top_k keeps the k greatest logits and all that equal the last of them (as
/// nanoGPT), then top_p keeps the likeliest tokens up to and including the one with which their sum
/// reaches p, ties in order of the token, then min_p those at least min_p times as likely as the likeliest. Temperature
/// 0 leaves the greatest logit, the first of equals. Numerics: double. Throws Error if a logit is not finite.
std::vector<double> probabilities(std::span<const float> logits, const Sampling& sampling);

/// How one token is drawn, as the kernel that draws it and its twin on the host take it (ops/sample.h): of tokens 0 …
/// vocabulary − 1, with these `probabilities` but for 2^-28 of each, where temperature is not 0, by 53 random bits.
/// Logits of tokens that the text has already are divided by the repetition penalty where they are positive, else
/// multiplied, as in CTRL (Keskar et al., 2019, section 4.1) and Hugging Face's generate.
SampleRow sample_row(const Sampling& sampling, std::int64_t vocabulary, Random& random, bool log_probability = false);

/// A token drawn on the host. Throws Error if a logit is not finite.
std::int32_t sample(std::span<const float> logits, const Sampling& sampling, Random& random);

}  // namespace vkf
