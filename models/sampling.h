// The choice of the next token from its logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

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

/// Makes the tokens of a text less likely to come again, as in CTRL (Keskar et al., 2019, section 4.1) and Hugging
/// Face's generate: positive logits are divided by the penalty, others multiplied, once whatever the number of times.
/// Throws: InputError naming a token that has no logit.
void penalize_repetition(std::span<float> logits, std::span<const std::int32_t> tokens, double penalty);

/// The natural logarithm of the probability that the model itself gives a token: log softmax(logits) there, before any
/// temperature, penalty or filter. The sum of a text's is minus its loss. Numerics: double.
double log_probability(std::span<const float> logits, std::int32_t token);

/// A token drawn with `probabilities`, from 53 random bits.
std::int32_t sample(std::span<const float> logits, const Sampling& sampling, Random& random);

}  // namespace vkf
