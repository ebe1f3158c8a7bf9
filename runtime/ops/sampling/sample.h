// The next token, drawn from its logits.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "ops/sampling/sample_weight.h"

namespace vkf {

/// Sampling parameters of a row, as shaders/sampling/sample.comp takes them: 18 words. By default no token is drawn.
///
/// Tokens 0 … vocabulary − 1 are filtered in this order: the top_k largest logits stay, with all that equal the last of
/// them; of these the likeliest whose weights reach the nucleus's part of the total, ties in order of the token; of
/// these the ones with at least the least weight. A token's weight is e^((its logit − the largest) / temperature), as
/// computed by weight().
struct SampleRow {
    std::uint32_t vocabulary = 0;
    std::uint32_t top_k = 0;  // 0: all
    Scale steepness;          // log2(e) / temperature; 0: the largest logit is taken, the first of equals
    /// Factors of the logits of seen tokens: of logits above 0, and of the others; 0: neither is scaled.
    Scale seen_positive, seen_negative;
    std::uint32_t nucleus_low = 0, nucleus_high = 0;  // ·2^-64; 0: all
    std::uint32_t least_low = 0, least_high = 0;      // least weight, in units of 1 / WHOLE_WEIGHT
    std::uint32_t random_low = 0, random_high = 0;    // ·2^-64: the token's position in the sum of all weights
    std::uint32_t log_probability = 0;                // not 0: wanted

    static constexpr std::int64_t words = 18;
    bool operator==(const SampleRow&) const = default;
};
static_assert(sizeof(SampleRow) == 4 * SampleRow::words);

/// Drawn token, and the members from which its probability in the model itself follows, as the kernel returns them.
struct SampledToken {
    std::int32_t token = -1;  // below 0: none, because the logit of token −1 − token is not finite
    float logit = 0;          // the token's
    float greatest = 0;       // largest of all V logits; `sum`: of all V weights. Only if the probability is wanted
    std::uint64_t sum = 0;

    /// Natural logarithm of the token's probability, softmax(logits)[token], before temperature, penalty and filters.
    /// Numerics: within 1e-8 or so.
    double log_probability() const;
    bool operator==(const SampledToken&) const = default;
};

constexpr std::int64_t seen_words(std::int64_t vocabulary) {
    return (vocabulary + 31) / 32;
}

/// Draws one row's token on the host, bitwise as the kernel does. Bit i % 32 of seen[i / 32] is set if token i is seen.
SampledToken sample_token(std::span<const float> logits, const SampleRow& row, std::span<const std::int32_t> seen);

/// Tokens, i32 [B], drawn from logits [B, …, V], one row for each of B; and the other members of SampledToken,
/// i32 [B, 4]. `rows` is i32 [B, SampleRow::words], `seen` i32 [B, seen_words(V)]. No derivative.
std::array<Tensor, 2> sample(Tensor logits, Tensor rows, Tensor seen);

/// Row b of the contents of sample()'s results.
SampledToken sampled_token(std::span<const std::int32_t> tokens, std::span<const std::int32_t> others, std::int64_t b);

}  // namespace vkf
