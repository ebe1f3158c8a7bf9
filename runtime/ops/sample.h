// The next token, drawn from its logits.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "ops/sample_weight.h"

namespace vkf {

/// How a row's token is drawn, as shaders/sample.comp takes it: 18 words. As it begins, a row of which none is.
///
/// Of tokens 0 … vocabulary − 1 it leaves the top_k greatest logits and all that equal the last of them, of these the
/// likeliest whose sum reaches the nucleus's part of the whole, ties in order of the token, and of these the ones that
/// weigh as much as the least. What a token weighs is e^((its logit − the greatest) / temperature), as `weight` has it.
struct SampleRow {
    std::uint32_t vocabulary = 0;
    std::uint32_t top_k = 0;  // 0: all
    Scale steepness;          // log2(e) / temperature; 0: the greatest logit is taken, the first of equals
    /// What logits of tokens that are seen are multiplied by where they are above 0, and else; 0: neither.
    Scale seen_positive, seen_negative;
    std::uint32_t nucleus_low = 0, nucleus_high = 0;  // ·2^-64; 0: all
    std::uint32_t least_low = 0, least_high = 0;      // of WHOLE_WEIGHT
    std::uint32_t random_low = 0, random_high = 0;    // ·2^-64: where in the sum of all weights the token lies
    std::uint32_t log_probability = 0;                // whether it is wanted

    static constexpr std::int64_t words = 18;
    bool operator==(const SampleRow&) const = default;
};
static_assert(sizeof(SampleRow) == 4 * SampleRow::words);

/// A token and what the model itself thinks of it, as the kernel gives it.
struct SampledToken {
    std::int32_t token = -1;  // below 0: none, for the logit of token −1 − token is not finite
    float logit = 0;          // its own
    float greatest = 0;       // of all V, and the sum of all V weights: if the probability is wanted
    std::uint64_t sum = 0;

    /// The natural logarithm of its probability, softmax(logits) there, before temperature, penalty and filters.
    /// Numerics: within 1e-8 or so.
    double log_probability() const;
    bool operator==(const SampledToken&) const = default;
};

constexpr std::int64_t seen_words(std::int64_t vocabulary) {
    return (vocabulary + 31) / 32;
}

/// The token of one row, on the host: the same to the last bit. Bit i % 32 of seen[i / 32] says that token i is seen.
SampledToken sample_token(std::span<const float> logits, const SampleRow& row, std::span<const std::int32_t> seen);

/// The tokens i32 [B] of logits [B, …, V], a row for each of B, and i32 [B, 4] of the other members of SampledToken, by
/// rows i32 [B, SampleRow::words] and what they have seen, i32 [B, seen_words(V)]. No derivative.
std::array<Tensor, 2> sample(Tensor logits, Tensor rows, Tensor seen);

/// Row b of what they hold.
SampledToken sampled_token(std::span<const std::int32_t> tokens, std::span<const std::int32_t> others, std::int64_t b);

}  // namespace vkf
