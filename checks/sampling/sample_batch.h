// Batches of logits with samplings, for the table of samples and for tests of its kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "models/generation/sampling.h"
#include "ops/sampling/sample.h"

namespace vkf::checks {

/// Samplings with different filters, which leave different numbers of tokens.
const std::vector<Sampling>& samplings();

/// Normal logits; every third set is rounded, so that many are equal.
std::vector<float> drawn_logits(std::size_t count, std::uint64_t number);

/// Rows of logits, with all samplings in rotation. More than a third of the tokens are seen; tokens from `vocabulary`
/// on must not be drawn.
struct SampleBatch {
    std::int64_t rows, width, vocabulary;
    std::vector<float> logits;
    std::vector<std::int32_t> samplings, seen;  // rows of SampleRow::words and of seen_words(width)

    SampleBatch(std::int64_t rows, std::int64_t width, std::int64_t vocabulary);

    void set(std::int64_t row, const SampleRow& sampling);
    /// The token that the host draws for a row.
    SampledToken wanted(std::int64_t row) const;
};

}  // namespace vkf::checks
