// Random numbers as a pure function of (seed, name, index): the same on every device, in any order.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace vkf {

/// Philox4x32-10: 128 random bits from a 128-bit counter and a 64-bit key; shaders/lib/random.glsl gives the same bits.
/// Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011), section 3.3.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
        key[0] += 0x9E3779B9;  // Weyl sequences: golden ratio and sqrt(3) - 1
        key[1] += 0xBB67AE85;
    }
    return counter;
}

/// [0, 1) in steps of 2^-24, exact in fp32.
constexpr float unit_float(std::uint32_t bits) {
    return static_cast<float>(bits >> 8) * 0x1p-24f;
}

/// FNV-1a hash of a name, 64 bits, which never changes.
constexpr std::uint64_t hash_name(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return hash;
}

/// 128 bits as a function of (seed, name, index): Philox as a keyed hash.
constexpr std::array<std::uint32_t, 4> stream_bits(std::uint64_t seed, std::string_view name, std::uint64_t index = 0) {
    const auto word = [](std::uint64_t x, int at) { return static_cast<std::uint32_t>(x >> (32 * at)); };
    const std::uint64_t hash = hash_name(name);
    return philox({word(hash, 0), word(hash, 1), word(index, 0), word(index, 1)}, {word(seed, 0), word(seed, 1)});
}

/// A key for kernels: dropout uses stream_key(seed, "dropout", micro-batch).
constexpr std::array<std::uint32_t, 2> stream_key(std::uint64_t seed, std::string_view name, std::uint64_t index = 0) {
    const auto bits = stream_bits(seed, name, index);
    return {bits[0], bits[1]};
}

/// True if dropout keeps the element (row, column); `salt` distinguishes the places of a model. One Philox block serves
/// four neighbouring columns. Bitwise equal to the mask of shaders/lib/random.glsl.
constexpr bool dropout_keep(std::array<std::uint32_t, 2> key, std::uint32_t salt, std::uint32_t row,
                            std::uint32_t column, float rate) {
    return unit_float(philox({column >> 2, row, salt, 0}, key)[column & 3]) >= rate;
}
constexpr bool dropout_keep(std::array<std::uint32_t, 2> key, std::uint32_t salt, std::uint32_t element, float rate) {
    return dropout_keep(key, salt, 0, element, rate);
}

/// Factor by which dropout multiplies an element: 0 or 1 / (1 - rate).
constexpr double dropout_scale(std::array<std::uint32_t, 2> key, std::uint32_t salt, std::uint32_t row,
                               std::uint32_t column, float rate) {
    const double survivors = 1.0 - static_cast<double>(rate);
    return dropout_keep(key, salt, row, column, rate) ? 1.0 / survivors : 0.0;
}
constexpr double dropout_scale(std::array<std::uint32_t, 2> key, std::uint32_t salt, std::uint32_t element,
                               float rate) {
    return dropout_scale(key, salt, 0, element, rate);
}

/// A stream of random numbers of (seed, name, index), independent of draws from other streams.
/// Initial weights use the parameter's name, batches the split's name and the micro-batch's number.
class Random {
public:
    Random(std::uint64_t seed, std::string_view name, std::uint64_t index = 0)
        : Random(stream_bits(seed, name, index)) {}

    std::uint32_t bits() {
        if (used_ == 4) {
            block_ = philox(counter_, key_);
            if (++counter_[0] == 0) ++counter_[1];
            used_ = 0;
        }
        return block_[used_++];
    }

    /// [0, 1) in steps of 2^-24.
    float uniform() { return unit_float(bits()); }

    /// 0 … n-1, all equally likely: draws that would favour small numbers are rejected.
    std::uint64_t below(std::uint64_t n) {
        require(n > 0, "random: below(0) has no values to choose from");
        const std::uint64_t surplus = (0 - n) % n;  // 2^64 mod n
        for (;;) {
            const std::uint64_t high = bits();
            const std::uint64_t drawn = high << 32 | bits();
            if (drawn >= surplus) return drawn % n;
        }
    }

    /// Mean 0, variance 1, by Box and Muller; computed in double, so its last bits depend on the C library.
    double normal() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        const double radius = std::sqrt(-2.0 * std::log((bits() + 1.0) * 0x1p-32));
        const double angle = 2.0 * std::numbers::pi * (bits() * 0x1p-32);
        spare_ = radius * std::sin(angle);
        has_spare_ = true;
        return radius * std::cos(angle);
    }

    /// 0 … n-1 in an order drawn uniformly from all orders (Fisher and Yates).
    std::vector<std::size_t> permutation(std::size_t n) {
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t left = n; left > 1; --left) {
            std::swap(order[left - 1], order[static_cast<std::size_t>(below(left))]);
        }
        return order;
    }

private:
    explicit Random(std::array<std::uint32_t, 4> stream)
        : key_{stream[0], stream[1]}, counter_{0, 0, stream[2], stream[3]} {}

    std::array<std::uint32_t, 2> key_;
    std::array<std::uint32_t, 4> counter_;
    std::array<std::uint32_t, 4> block_ = {};
    std::size_t used_ = 4;
    double spare_ = 0.0;
    bool has_spare_ = false;
};

}  // namespace vkf
