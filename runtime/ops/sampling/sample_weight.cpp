#include "ops/sampling/sample_weight.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vkf {

namespace {

/// 2^-f = 1 − c₁f + c₂f² − …, as minimax polynomial for 0 ≤ f < 1, exact at 0; times 2^32.
constexpr std::array<std::uint32_t, 8> coefficients{0xb17217f8, 0x3d7f7bf6, 0x0e35840b, 0x02765365,
                                                    0x00575be2, 0x000a0d82, 0x0000f4c0, 0x00000fc7};

}  // namespace

Scale Scale::of(double value) {
    constexpr int farthest = 2000;
    int exponent = 0;
    const double digits = std::frexp(std::min(value, 0x1p1000), &exponent);  // [1/2, 1)
    if (digits == 0) return {.low = 0, .high = 0x80, .exponent = -farthest};
    auto rounded = static_cast<std::uint64_t>(std::llrint(digits * 0x1p40));
    if (rounded == WHOLE_WEIGHT) rounded /= 2, ++exponent;
    return {static_cast<std::uint32_t>(rounded), static_cast<std::uint32_t>(rounded >> 32), exponent - 40};
}

float rescaled(float value, Scale scale) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = bits & 0x7fffffffU;
    if (size < 0x00800000U) return value;
    const std::uint64_t product = ((size & 0x7fffffU) | 0x800000U) * scale.digits();  // [2^62, 2^64)
    int exponent = static_cast<int>(size >> 23) + scale.exponent;
    int drop = (product >> 63) != 0 ? 40 : 39;
    std::uint64_t digits = product >> drop;
    const std::uint64_t rest = product & ((std::uint64_t{1} << drop) - 1), half = std::uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && digits % 2 == 1)) ++digits;
    if (digits == 0x1000000U) digits = 0x800000U, ++drop;
    exponent += drop;
    const std::uint32_t sign = bits & 0x80000000U;
    if (exponent < 1) return std::bit_cast<float>(sign);
    if (exponent > 254) return std::bit_cast<float>(sign | 0x7f7fffffU);
    return std::bit_cast<float>(sign | static_cast<std::uint32_t>(exponent) << 23 |
                                (static_cast<std::uint32_t>(digits) & 0x7fffffU));
}

std::uint64_t weight(float below, Scale scale) {
    const auto bits = std::bit_cast<std::uint32_t>(below);
    if (bits < 0x00800000U) return WHOLE_WEIGHT;
    const std::uint64_t product = ((bits & 0x7fffffU) | 0x800000U) * scale.digits();  // [2^62, 2^64)
    const int shift = 150 - 32 - static_cast<int>(bits >> 23) - scale.exponent;       // to an exponent in 2^-32
    if (shift < 24) return 0;
    if (shift > 63) return WHOLE_WEIGHT;
    const std::uint64_t power = product >> shift, whole = power >> 32, part = power & 0xffffffffU;
    if (whole > 41) return 0;
    std::uint64_t sum = coefficients.back();
    for (std::size_t k = coefficients.size() - 1; k-- > 0;) sum = coefficients[k] - (part * sum >> 32);
    const std::uint64_t exponential = (std::uint64_t{1} << 32) - (part * sum >> 32);
    return ((exponential << 9 >> whole) + 1) >> 1;
}

}  // namespace vkf
