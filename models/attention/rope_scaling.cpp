#include "models/attention/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace vkf {

namespace {

using Type = RopeScaling::Type;

constexpr std::pair<const char*, Type> type_words[] = {
    {"default", Type::unscaled}, {"linear", Type::linear}, {"llama3", Type::llama3}};

/// Llama 3.1's rule: short waves stay, long waves grow by the factor, and waves in between are interpolated.
double scaled_by_length(double frequency, const RopeScaling& scaling) {
    const double waves =  // number that fits into the original context
        static_cast<double>(scaling.original_max_position_embeddings) * frequency / (2 * std::numbers::pi);
    const double low = static_cast<double>(scaling.low_freq_factor),
                 high = static_cast<double>(scaling.high_freq_factor);
    const double kept = std::clamp((waves - low) / (high - low), 0.0, 1.0);
    return kept * frequency + (1 - kept) * frequency / static_cast<double>(scaling.factor);
}

}  // namespace

std::vector<Field> RopeScaling::fields() {
    std::vector<Field> all{{.key = "rope_type", .value = choice(type, type_words)}};
    if (type != Type::unscaled) all.push_back({.key = "factor", .value = Number{&factor, 1, 1e6f}, .required = true});
    if (type != Type::llama3) return all;
    all.push_back({.key = "low_freq_factor", .value = Number{&low_freq_factor, 0, 1e6f}, .required = true});
    all.push_back({.key = "high_freq_factor", .value = Number{&high_freq_factor, 0, 1e6f}, .required = true});
    all.push_back({.key = "original_max_position_embeddings",
                   .value = IntRange{&original_max_position_embeddings, 1, 1'000'000'000},
                   .required = true});
    return all;
}

void check(const RopeScaling& scaling) {
    require(scaling.type != Type::llama3 || scaling.high_freq_factor > scaling.low_freq_factor,
            "rope_scaling.high_freq_factor is ", scaling.high_freq_factor, ", wanted more than low_freq_factor ",
            scaling.low_freq_factor);
}

std::vector<double> rope_frequencies(std::int64_t width, double theta, const RopeScaling& scaling) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < width / 2; ++i) {
        const double frequency = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(width));
        all.push_back(scaling.type == Type::unscaled ? frequency
                      : scaling.type == Type::linear ? frequency / static_cast<double>(scaling.factor)
                                                     : scaled_by_length(frequency, scaling));
    }
    return all;
}

}  // namespace vkf
