// The choice of the next token from its logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace vkf {

/// nanoGPT's defaults, and all tokens for the nucleus.
struct Sampling {
    double temperature = 0.8;  // 0: always the likeliest token
    std::int64_t top_k = 200;  // 0: all
    double top_p = 1.0;        // 1: all

    bool operator==(const Sampling&) const = default;
};

/// Throws InputError naming the option, the value found and the value wanted.
void validate(const Sampling& sampling);

/// The probability of every token: softmax(logits / temperature) of the tokens that are left, 0 for
/// the others. First top_k keeps the k greatest logits and all that equal the last of them (as
/// nanoGPT), then top_p keeps the likeliest tokens up to and including the one with which their sum
/// reaches p, ties in order of the token. Temperature 0 leaves the greatest logit, the first of
/// equals. Numerics: double. Throws Error if a logit is not finite.
std::vector<double> probabilities(std::span<const float> logits, const Sampling& sampling);

/// A token drawn with those probabilities, from 53 random bits.
std::int32_t sample(std::span<const float> logits, const Sampling& sampling, Random& random);

}  // namespace vkf
