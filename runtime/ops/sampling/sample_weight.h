// Weights of tokens for drawing one: in integers, as shaders/sampling/sample_weight.glsl computes them, so that host
// and device agree bitwise and sums do not depend on their order.
#pragma once

#include <bit>
#include <cstdint>

namespace vkf {

/// m·2^exponent with 2^39 ≤ m < 2^40, m = high·2^32 + low; or 0.
struct Scale {
    std::uint32_t low = 0, high = 0;
    std::int32_t exponent = 0;

    /// The nearest to a positive number; numbers beyond 2^±2000 count as that.
    static Scale of(double value);
    std::uint64_t digits() const { return std::uint64_t{high} << 32 | low; }
    bool operator==(const Scale&) const = default;
};

/// Weight of the likeliest token.
constexpr std::uint64_t WHOLE_WEIGHT = std::uint64_t{1} << 40;

/// Word above 0 that has the order of the numbers: −0 equals 0, NaN is above all.
constexpr std::uint32_t ordered(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = bits & 0x7fffffffU;
    if (size > 0x7f800000U) return 0xffffffffU;
    return size == 0 || size == bits ? size | 0x80000000U : ~bits;
}

/// value·scale, rounded to the nearest, ties to even: 0 where it would be subnormal, and the largest number instead of
/// infinity. Subnormal numbers stay as they are.
float rescaled(float value, Scale scale);

/// WHOLE_WEIGHT · 2^(−below·scale), for `below` ≥ 0. Numerics: within 2^-28 of that and rounded to an integer, so 0
/// from 2^-41 of WHOLE_WEIGHT down.
std::uint64_t weight(float below, Scale scale);

}  // namespace vkf
