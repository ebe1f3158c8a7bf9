#include "models/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"

namespace vkf {

namespace {

/// Logits below this one are not among the k greatest.
float least_of_top(std::span<const float> logits, std::int64_t k) {
    std::vector<float> sorted(logits.begin(), logits.end());
    const auto last = sorted.begin() + (k - 1);
    std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
    return *last;
}

/// Zeroes all but the likeliest tokens whose sum reaches p of the whole.
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
        if (weight < sampling.min_p) weight = 0;  // the likeliest weighs 1
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= sum;
    return weights;
}

void penalize_repetition(std::span<float> logits, std::span<const std::int32_t> tokens, double penalty) {
    if (penalty == 1) return;
    std::vector<bool> done(logits.size());
    for (const std::int32_t token : tokens) {
        const auto index = static_cast<std::size_t>(token);
        require(index < logits.size(), "token ", token, " has no logit; there are ", logits.size());
        if (done[index]) continue;
        done[index] = true;
        const double logit = static_cast<double>(logits[index]);
        logits[index] = static_cast<float>(logit > 0 ? logit / penalty : logit * penalty);
    }
}

double log_probability(std::span<const float> logits, std::int32_t token) {
    const auto greatest = static_cast<double>(*std::ranges::max_element(logits));
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - greatest);
    return static_cast<double>(logits[static_cast<std::size_t>(token)]) - greatest - std::log(sum);
}

std::int32_t sample(std::span<const float> logits, const Sampling& sampling, Random& random) {
    const std::vector<double> chances = probabilities(logits, sampling);
    const std::uint64_t high = random.bits() >> 5, low = random.bits() >> 6;  // 27 and 26 bits
    const double drawn = static_cast<double>(high << 26 | low) * 0x1p-53;
    double sum = 0;
    std::size_t chosen = 0;  // rounding may leave the sum below `drawn`: then the last possible token
    for (std::size_t token = 0; token < chances.size(); ++token) {
        if (chances[token] == 0) continue;
        chosen = token;
        if ((sum += chances[token]) > drawn) break;
    }
    return static_cast<std::int32_t>(chosen);
}

}  // namespace vkf
