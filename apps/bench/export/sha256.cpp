#include "apps/bench/export/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace vkf {

namespace {

using HashWords = std::array<std::uint32_t, 8>;

constexpr std::size_t BLOCK = 64, ROUNDS = 64;

/// First prime numbers.
constexpr std::array<std::uint32_t, ROUNDS> primes() {
    std::array<std::uint32_t, ROUNDS> made{};
    std::size_t count = 0;
    for (std::uint32_t number = 2; count < ROUNDS; ++number)
        if (std::none_of(made.begin(), made.begin() + count, [&](std::uint32_t prime) { return number % prime == 0; }))
            made[count++] = number;
    return made;
}

constexpr std::array PRIMES = primes();

/// First 32 bits of the fraction of a prime's root, by bisection in whole numbers: the largest r with r^n ≤
/// prime·2^32n.
constexpr std::uint32_t root_fraction(std::uint32_t prime, int power) {
    __extension__ using Wide = unsigned __int128;
    // The root is below 32 = 2^5, so r is below 2^37 and its cube below 2^111.
    std::uint64_t root = 0;
    for (int bit = 36; bit >= 0; --bit) {
        const std::uint64_t next = root | std::uint64_t{1} << bit;
        Wide product = 1;
        for (int i = 0; i < power; ++i) product *= next;
        if (product <= Wide{prime} << (32 * power)) root = next;
    }
    return static_cast<std::uint32_t>(root);
}

constexpr std::array<std::uint32_t, ROUNDS> round_constants() {
    std::array<std::uint32_t, ROUNDS> made{};
    for (std::size_t i = 0; i < ROUNDS; ++i) made[i] = root_fraction(PRIMES[i], 3);
    return made;
}

constexpr HashWords first_hash() {
    HashWords made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = root_fraction(PRIMES[i], 2);
    return made;
}

constexpr std::array<std::uint32_t, ROUNDS> CONSTANTS = round_constants();

/// Hash after one more block.
void add_block(HashWords& hash, std::span<const std::byte, BLOCK> block) {
    std::array<std::uint32_t, ROUNDS> schedule{};
    for (std::size_t i = 0; i < BLOCK; ++i)
        schedule[i / 4] = schedule[i / 4] << 8 | std::to_integer<unsigned>(block[i]);
    for (std::size_t i = 16; i < ROUNDS; ++i) {
        const std::uint32_t a = schedule[i - 15], b = schedule[i - 2];
        schedule[i] = schedule[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + schedule[i - 7] +
                      (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (std::size_t i = 0; i < ROUNDS; ++i) {
        const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                    CONSTANTS[i] + schedule[i];
        const std::uint32_t second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const HashWords added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < hash.size(); ++i) hash[i] += added[i];
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes) {
    HashWords hash = first_hash();
    std::size_t done = 0;
    for (; bytes.size() - done >= BLOCK; done += BLOCK) add_block(hash, bytes.subspan(done).first<BLOCK>());
    // The rest, a bit, zeros, and the number of bits in the last eight bytes.
    std::array<std::byte, 2 * BLOCK> tail{};
    std::ranges::copy(bytes.subspan(done), tail.begin());
    tail[bytes.size() - done] = std::byte{0x80};
    const std::size_t length = bytes.size() - done + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
    for (std::size_t i = 0; i < 8; ++i) tail[length - 1 - i] = static_cast<std::byte>(bits >> 8 * i);
    for (std::size_t from = 0; from < length; from += BLOCK)
        add_block(hash, std::span<const std::byte>(tail).subspan(from).first<BLOCK>());
    std::string made;
    for (const std::uint32_t word : hash) {
        char digits[9];
        std::snprintf(digits, sizeof digits, "%08x", word);
        made += digits;
    }
    return made;
}

}  // namespace vkf
