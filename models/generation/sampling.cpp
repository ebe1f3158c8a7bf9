#include "models/generation/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "base/error.h"

namespace vkf {

namespace {

/// The k-th largest logit.
float least_of_top(std::span<const float> logits, std::int64_t k) {
    std::vector<float> sorted(logits.begin(), logits.end());
    const auto last = sorted.begin() + (k - 1);
    std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
    return *last;
}

/// Zeroes all weights but the largest ones, which together reach p of the sum.
void keep_nucleus(std::vector<double>& weights, double p) {
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    const double enough = p * std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    bool full = false;
    for (const std::size_t token : order) {
        if (full) weights[token] = 0;
        sum += weights[token];
        full = full || sum >= enough;
    }
}

}  // namespace

void validate(const Sampling& s) {
    require(s.temperature >= 0 && std::isfinite(s.temperature), "temperature is ", s.temperature,
            ", wanted a number of at least 0");
    require(s.top_k >= 0, "top-k is ", s.top_k, ", wanted a whole number of at least 0 (0: all)");
    require(s.top_p > 0 && s.top_p <= 1, "top-p is ", s.top_p, ", wanted more than 0 and at most 1");
    require(s.min_p >= 0 && s.min_p <= 1, "min-p is ", s.min_p, ", wanted 0 to 1 (0: all)");
    require(s.repetition_penalty > 0 && std::isfinite(s.repetition_penalty), "repetition-penalty is ",
            s.repetition_penalty, ", wanted a number above 0 (1: none)");
}

std::vector<double> probabilities(std::span<const float> logits, const Sampling& sampling) {
    require(!logits.empty(), "sampling: there are no logits");
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (!std::isfinite(logits[i]))
            throw Error("the model's logit ", i, " is ", logits[i], ", wanted a finite number");
    const auto greatest = std::max_element(logits.begin(), logits.end());
    std::vector<double> weights(logits.size(), 0.0);
    if (sampling.temperature == 0) {
        weights[static_cast<std::size_t>(greatest - logits.begin())] = 1;
        return weights;
    }
    const auto count = static_cast<std::int64_t>(logits.size());
    const float least = sampling.top_k > 0 && sampling.top_k < count ? least_of_top(logits, sampling.top_k)
                                                                     : *std::min_element(logits.begin(), logits.end());
    const double most = static_cast<double>(*greatest);
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (logits[i] >= least) weights[i] = std::exp((static_cast<double>(logits[i]) - most) / sampling.temperature);
    if (sampling.top_p < 1) keep_nucleus(weights, sampling.top_p);
    for (double& weight : weights)
        if (weight < sampling.min_p) weight = 0;  // the most likely token has weight 1
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= sum;
    return weights;
}

SampleRow sample_row(const Sampling& sampling, std::int64_t vocabulary, Random& random, bool log_probability) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    SampleRow row{.vocabulary = checked_u32(vocabulary), .log_probability = log_probability};
    if (sampling.top_k < vocabulary) row.top_k = checked_u32(sampling.top_k);
    if (sampling.temperature > 0) row.steepness = Scale::of(std::numbers::log2e / sampling.temperature);
    if (sampling.repetition_penalty != 1) {
        row.seen_positive = Scale::of(1 / sampling.repetition_penalty);
        row.seen_negative = Scale::of(sampling.repetition_penalty);
    }
    if (sampling.top_p < 1) {
        const auto part = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(sampling.top_p * 0x1p64));
        row.nucleus_low = low(part);
        row.nucleus_high = high(part);
    }
    const auto least = static_cast<std::uint64_t>(std::ceil(sampling.min_p * static_cast<double>(WHOLE_WEIGHT)));
    row.least_low = low(least);
    row.least_high = high(least);
    const std::uint64_t upper = random.bits() >> 5, lower = random.bits() >> 6;  // 27 and 26 bits
    const std::uint64_t bits = (upper << 26 | lower) << 11;
    row.random_low = low(bits);
    row.random_high = high(bits);
    return row;
}

std::int32_t sample(std::span<const float> logits, const Sampling& sampling, Random& random) {
    const std::vector<std::int32_t> seen(static_cast<std::size_t>(seen_words(std::ssize(logits))));
    const SampledToken made = sample_token(logits, sample_row(sampling, std::ssize(logits), random), seen);
    if (made.token < 0)
        throw Error("the model's logit ", -1 - made.token, " is ", made.logit, ", wanted a finite number");
    return made.token;
}

}  // namespace vkf
