// Draws the 200 small images of tests/golden/make_images.py, byte for byte, and computes its checksum.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/images/image.h"

namespace vkf::test {

inline constexpr int sample_count = 200;

/// Upper bits of Knuth's linear congruential generator.
class Numbers {
public:
    explicit Numbers(std::uint64_t seed) : state_(seed) {}
    int below(int n) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(n));
    }

private:
    std::uint64_t state_;
};

/// Python's integer division by a positive number.
inline int floor_divide(int a, int b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// Draws an image: noise, planes, low contrast, one colour, two values, a channel of one value, blocks, or a disc; of
/// 32x32 pixels or an odd size.
inline Image sample(int number) {
    constexpr std::array<std::array<int, 2>, 8> odd_sizes = {
        {{17, 23}, {40, 31}, {5, 2}, {1, 1}, {3, 3}, {64, 16}, {2, 7}, {33, 32}}};
    const auto odd = odd_sizes[static_cast<std::size_t>(number / 5 % 8)];
    const int width = number % 5 == 4 ? odd[0] : 32, height = number % 5 == 4 ? odd[1] : 32;
    Image image(width, height);
    Numbers numbers(static_cast<std::uint64_t>(number));
    std::array<int, 3> base, other;
    std::array<std::array<int, 2>, 3> slope;
    for (int& v : base) v = numbers.below(256);
    for (int& v : other) v = numbers.below(256);
    for (auto& pair : slope) {
        for (int& v : pair) v = numbers.below(33) - 16;
    }
    const auto value = [&](int x, int y, int channel) {
        const auto c = static_cast<std::size_t>(channel);
        switch (number % 8) {
            case 0:
                return numbers.below(256);
            case 1:
                return base[c] + floor_divide(slope[c][0] * x + slope[c][1] * y, 2);
            case 2:
                return base[c] / 2 + numbers.below(9);
            case 3:
                return base[c];
            case 4:
                return numbers.below(4) ? base[c] : other[c];
            case 5:
                return channel == number / 8 % 3 ? base[c] : numbers.below(256);
            case 6:
                return base[c] ^ (37 * (x / 4) + 91 * (y / 4) + 11 * channel) % 256;
            default:
                break;
        }
        const int from_x = 2 * x - width, from_y = 2 * y - height;
        const bool inside = from_x * from_x + from_y * from_y < width * height / 2;
        return (inside ? other[c] : base[c] + floor_divide(slope[c][0] * x, 4)) + numbers.below(5);
    };
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            for (int c = 0; c < 3; ++c)
                image.at(x, y)[c] = static_cast<std::uint8_t>(std::clamp(value(x, y, c), 0, 255));
        }
    }
    return image;
}

/// CRC-32 of ISO 3309, continued from `crc`.
inline std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t crc = 0) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> made;
        for (std::uint32_t i = 0; i < 256; ++i) {
            made[i] = i;
            for (int bit = 0; bit < 8; ++bit) made[i] = made[i] >> 1 ^ (made[i] & 1 ? 0xedb88320u : 0u);
        }
        return made;
    }();
    crc = ~crc;
    for (const std::uint8_t b : bytes) crc = table[(crc ^ b) & 255] ^ crc >> 8;
    return ~crc;
}

inline std::uint32_t crc32(std::uint32_t number, std::uint32_t crc) {
    std::array<std::uint8_t, 4> bytes;
    for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(number >> 8 * i);
    return crc32(bytes, crc);
}

}  // namespace vkf::test
