// The two 16-bit floating-point formats: exact conversion to binary32, and rounding to nearest even from it.
#pragma once

#include <bit>
#include <cstdint>

namespace vkf {

/// IEEE binary16 to binary32; exact.
constexpr float from_half(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 31u;
    const std::uint32_t mantissa = half & 1023u;
    if (exponent == 0) {  // subnormal: a multiple of 2^-24
        const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    const std::uint32_t widened = exponent == 31 ? 255 : exponent + 112;
    return std::bit_cast<float>(sign | widened << 23 | mantissa << 13);
}

/// binary32 to binary16, ties to even; beyond 65504 to infinity, NaN stays NaN.
constexpr std::uint16_t to_half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000u) {
        half = 0x7e00u;
    } else if (magnitude >= 0x47800000u) {  // 65536 and up
        half = 0x7c00u;
    } else if (magnitude < 0x38800000u) {  // below 2^-14: the adder rounds to multiples of 2^-24
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        half = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
    } else {
        half = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | half);
}

/// bfloat16 to binary32; exact.
constexpr float from_bfloat16(std::uint16_t value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

/// binary32 to bfloat16, ties to even; NaN stays NaN.
constexpr std::uint16_t to_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace vkf
