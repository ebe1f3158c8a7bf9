#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace vkf {
namespace {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

// The shader's source, compiled as C++ with the few definitions of GLSL that it needs: both must give the same bits.
namespace glsl {
using uint = std::uint32_t;
struct uvec2 {
    uint x, y;
    uvec2(uint a, uint b) : x(a), y(b) {}
};
struct uvec4 {
    uint x, y, z, w;
    uvec4(uint a, uint b, uint c, uint d) : x(a), y(b), z(c), w(d) {}
    uint operator[](uint i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
};
struct vec4 {
    float x, y, z, w;
    vec4(float a, float b, float c, float d) : x(a), y(b), z(c), w(d) {}
};
void umulExtended(uint a, uint b, uint& high, uint& low) {
    const std::uint64_t product = std::uint64_t{a} * b;
    high = static_cast<uint>(product >> 32);
    low = static_cast<uint>(product);
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"  // [[unroll]]
#include "../../shaders/lib/random.glsl"
#pragma GCC diagnostic pop
}  // namespace glsl

// Philox as in its paper: two multiplications, then a permutation of the words.
Counter philox_by_the_paper(Counter r, Key k) {
    for (std::uint32_t round = 0; round < 10; ++round) {
        const auto product = [](std::uint64_t m, std::uint32_t x) { return m * x; };
        const std::uint64_t left = product(0xD2511F53u, r[0]), right = product(0xCD9E8D57u, r[2]);
        const std::uint32_t round_key[2] = {k[0] + round * 0x9E3779B9u, k[1] + round * 0xBB67AE85u};
        Counter next;
        next[0] = static_cast<std::uint32_t>(right / 0x100000000u) ^ r[1] ^ round_key[0];
        next[1] = static_cast<std::uint32_t>(right % 0x100000000u);
        next[2] = static_cast<std::uint32_t>(left / 0x100000000u) ^ r[3] ^ round_key[1];
        next[3] = static_cast<std::uint32_t>(left % 0x100000000u);
        r = next;
    }
    return r;
}

TEST(HostRandom, PhiloxGivesThePublishedVectors) {  // Random123's kat_vectors, philox4x32-10
    const std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
              (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(HostRandom, PhiloxIsThePapersAndTheShaders) {
    Random draw(1, "philox cases");
    for (int i = 0; i < 1000; ++i) {
        const Counter c = {draw.bits(), draw.bits(), draw.bits(), draw.bits()};
        const Key k = {draw.bits(), draw.bits()};
        const Counter expected = philox_by_the_paper(c, k);
        EXPECT_EQ(philox(c, k), expected);
        const auto shader = glsl::philox({c[0], c[1], c[2], c[3]}, {k[0], k[1]});
        EXPECT_EQ((Counter{shader.x, shader.y, shader.z, shader.w}), expected);
    }
}

TEST(HostRandom, TheShaderDropsWhatTheHostDrops) {
    const Key key = stream_key(7, "dropout", 3);
    const glsl::uvec2 shader_key(key[0], key[1]);
    for (const float rate : {0.0f, 0.1f, 0.5f, 1.0f}) {
        int kept = 0;
        const std::uint32_t rows = 33, columns = 61;
        for (std::uint32_t row = 0; row < rows; ++row) {
            for (std::uint32_t column = 0; column < columns; ++column) {
                const bool keep = dropout_keep(key, 5, row, column, rate);
                kept += keep;
                EXPECT_EQ(keep, glsl::dropout_keep(shader_key, 5, row, column, rate));
                const auto four = glsl::dropout_scale4(shader_key, 5, row, column / 4, rate);
                const float scales[] = {four.x, four.y, four.z, four.w};
                const float scale = glsl::dropout_scale(shader_key, 5, row, column, rate);
                EXPECT_EQ(scale, scales[column % 4]);
                EXPECT_FLOAT_EQ(scale, static_cast<float>(dropout_scale(key, 5, row, column, rate)));
            }
            EXPECT_EQ(dropout_keep(key, 5, 0, row, rate), dropout_keep(key, 5, row, rate));
            EXPECT_EQ(dropout_keep(key, 5, row, rate), glsl::dropout_keep(shader_key, 5, row, rate));
            EXPECT_EQ(glsl::dropout_scale(shader_key, 5, 0, row, rate), glsl::dropout_scale(shader_key, 5, row, rate));
        }
        const double n = rows * columns, wanted = n * (1.0 - static_cast<double>(rate));
        // five standard deviations of a binomial
        EXPECT_NEAR(kept, wanted, 5 * std::sqrt(wanted * static_cast<double>(rate)));
    }
}

TEST(HostRandom, StreamsDependOnSeedNameAndIndexOnly) {
    const auto first = [](std::uint64_t seed, const char* name, std::uint64_t index) {
        return Random(seed, name, index).bits();
    };
    EXPECT_EQ(first(1, "h.0.attn", 0), first(1, "h.0.attn", 0));
    const std::set<std::uint32_t> different = {first(1, "a", 0), first(2, "a", 0),          first(1, "b", 0),
                                               first(1, "a", 1), first(1ull << 32, "a", 0), first(1, "a", 1ull << 32),
                                               first(1, "", 0)};
    EXPECT_EQ(different.size(), 7u);
    EXPECT_EQ(hash_name(""), 0xcbf29ce484222325u);  // FNV-1a's published vectors
    EXPECT_EQ(hash_name("foobar"), 0x85944171f73967e8u);
}

TEST(HostRandom, UniformCoversZeroToBelowOne) {
    EXPECT_EQ(unit_float(0), 0.0f);
    EXPECT_EQ(unit_float(0xffffffff), 1.0f - 0x1p-24f);
    Random draw(2, "uniform");
    const int n = 100000;
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        const double x = draw.uniform();
        ASSERT_TRUE(x >= 0 && x < 1);
        sum += x;
        squares += x * x;
    }
    // five standard deviations of the mean of x and of x²: variances 1/12 and 4/45
    EXPECT_NEAR(sum / n, 1.0 / 2, 5 * std::sqrt(1.0 / 12 / n));
    EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
}

TEST(HostRandom, NormalHasTheMomentsOfTheNormal) {
    Random draw(3, "normal");
    const int n = 100000;
    double moments[5] = {};
    for (int i = 0; i < n; ++i) {
        const double x = draw.normal();
        double power = 1;
        for (double& moment : moments) {
            moment += power / n;
            power *= x;
        }
    }
    // five standard deviations; variances of x, x², x³, x⁴: 1, 2, 15, 96
    EXPECT_NEAR(moments[1], 0, 5 * std::sqrt(1.0 / n));
    EXPECT_NEAR(moments[2], 1, 5 * std::sqrt(2.0 / n));
    EXPECT_NEAR(moments[3], 0, 5 * std::sqrt(15.0 / n));
    EXPECT_NEAR(moments[4], 3, 5 * std::sqrt(96.0 / n));
}

TEST(HostRandom, BelowIsEvenAndInRange) {
    Random draw(4, "below");
    const int n = 70000;
    int counts[7] = {};
    for (int i = 0; i < n; ++i) ++counts[draw.below(7)];
    for (const int count : counts) EXPECT_NEAR(count, n / 7.0, 5 * std::sqrt(n * 6.0 / 49));
    for (int i = 0; i < 10; ++i) EXPECT_EQ(draw.below(1), 0u);
    // 3·2^62 of 2^64: with plain remainders half of all draws would be below 2^62, instead of a third
    int low = 0;
    for (int i = 0; i < 9000; ++i) low += draw.below(3ull << 62) < 1ull << 62;
    EXPECT_NEAR(low, 3000, 5 * std::sqrt(9000 * 2.0 / 9));
    EXPECT_THROW(draw.below(0), InputError);
}

TEST(HostRandom, PermutationsAreEvenlyDrawn) {
    Random draw(5, "permutation");
    EXPECT_TRUE(draw.permutation(0).empty());
    std::vector<std::size_t> big = draw.permutation(1000);
    EXPECT_FALSE(std::is_sorted(big.begin(), big.end()));
    std::sort(big.begin(), big.end());
    for (std::size_t i = 0; i < big.size(); ++i) EXPECT_EQ(big[i], i);
    int counts[3][3][3] = {};
    for (int i = 0; i < 6000; ++i) {
        const auto order = draw.permutation(3);
        ++counts[order[0]][order[1]][order[2]];
    }
    const double deviation = std::sqrt(6000 * 5.0 / 36);
    EXPECT_NEAR(counts[0][1][2], 1000, 5 * deviation);
    EXPECT_NEAR(counts[2][1][0], 1000, 5 * deviation);
    EXPECT_NEAR(counts[1][2][0], 1000, 5 * deviation);
}

}  // namespace
}  // namespace vkf
