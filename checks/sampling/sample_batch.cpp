#include "checks/sampling/sample_batch.h"

#include <cmath>
#include <cstring>
#include <span>

namespace vkf::checks {

const std::vector<Sampling>& samplings() {
    static const std::vector<Sampling> list{
        {.temperature = 0},
        {},
        {.temperature = 1, .top_k = 0},
        {.temperature = 3, .top_k = 0, .top_p = 0.9},
        {.temperature = 0.3, .top_k = 0, .min_p = 0.05},
        {.temperature = 1, .top_k = 1},
        {.temperature = 1.3, .top_k = 5, .top_p = 0.7, .min_p = 0.1, .repetition_penalty = 1.2},
        {.temperature = 1, .top_k = 0, .top_p = 1e-9},
        {.temperature = 1, .top_k = 0, .top_p = 0.5, .repetition_penalty = 0.7},
        {.temperature = 0, .repetition_penalty = 1.5},
        {.temperature = 1e-6, .top_k = 0, .top_p = 0.999},
        {.temperature = 1000, .top_k = 40, .min_p = 1},
    };
    return list;
}

std::vector<float> drawn_logits(std::size_t count, std::uint64_t number) {
    Random random(5, "logits", number);
    std::vector<float> logits(count);
    for (float& logit : logits) {
        const double drawn = 3 * random.normal();
        logit = static_cast<float>(number % 3 == 0 ? std::round(drawn) : drawn);
    }
    return logits;
}

SampleBatch::SampleBatch(std::int64_t rows_, std::int64_t width_, std::int64_t vocabulary_)
    : rows(rows_), width(width_), vocabulary(vocabulary_) {
    const std::vector<Sampling>& all = checks::samplings();
    Random random(9, "batch", static_cast<std::uint64_t>(width));
    for (std::int64_t b = 0; b < rows; ++b) {
        const std::vector<float> fresh = drawn_logits(static_cast<std::size_t>(width), static_cast<std::uint64_t>(b));
        logits.insert(logits.end(), fresh.begin(), fresh.end());
        set(b, sample_row(all[static_cast<std::size_t>(b) % all.size()], vocabulary, random, b % 5 != 0));
        for (std::int64_t i = 0; i < seen_words(width); ++i)
            seen.push_back(static_cast<std::int32_t>((random.bits() & random.bits()) | 1U << i % 32));
    }
}

void SampleBatch::set(std::int64_t row, const SampleRow& sampling) {
    samplings.resize(static_cast<std::size_t>(rows * SampleRow::words));
    std::memcpy(&samplings[static_cast<std::size_t>(row * SampleRow::words)], &sampling, sizeof sampling);
}

SampledToken SampleBatch::wanted(std::int64_t row) const {
    SampleRow sampling;
    std::memcpy(static_cast<void*>(&sampling), &samplings[static_cast<std::size_t>(row * SampleRow::words)],
                sizeof sampling);
    const auto part = [row](const auto& list, std::int64_t count) {
        return std::span(list).subspan(static_cast<std::size_t>(row * count), static_cast<std::size_t>(count));
    };
    return sample_token(part(logits, width), sampling, part(seen, seen_words(width)));
}

}  // namespace vkf::checks
