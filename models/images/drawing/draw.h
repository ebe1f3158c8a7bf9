// Random draws of the image recipes: streams by epoch and place, and the few distributions that they use.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/random.h"

namespace vkf {

/// Stream of number `place` (of an image or a batch) in an epoch: a function of the four arguments alone.
/// Throws: InputError unless epoch and place are below 2^32.
inline Random epoch_stream(std::uint64_t seed, std::string_view name, std::uint64_t epoch, std::uint64_t place) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 32;
    require(epoch < limit && place < limit, name, ": number ", place, " of epoch ", epoch, ", wanted both below ",
            limit);
    return Random(seed, name, epoch << 32 | place);
}

/// True with this probability.
inline bool happens(Random& random, double probability) {
    return static_cast<double>(random.uniform()) < probability;
}

/// Uniform in [low, high), in steps of 2^-24 of the distance.
inline double between(Random& random, double low, double high) {
    return low + (high - low) * static_cast<double>(random.uniform());
}

/// Uniform in 0 … n-1.
inline int index_below(Random& random, int n) {
    require(n > 0, "random: a number below ", n, ", wanted at least one to choose from");
    return static_cast<int>(random.below(static_cast<std::uint64_t>(n)));
}

/// Random sign, -1 or 1.
inline int sign(Random& random) {
    return (random.bits() & 0x80000000u) ? -1 : 1;
}

/// Beta(a, a) by rejection, which is fast for small a; a = 1 takes one uniform number. Jöhnk: Erzeugung von
/// betaverteilten und gammaverteilten Zufallszahlen (Metrika 8, 1964). Throws: InputError unless 0.1 ≤ a ≤ 4.
inline double symmetric_beta(Random& random, double a) {
    require(a >= 0.1 && a <= 4, "random: Beta(", a, ", ", a, "), wanted 0.1 to 4");
    if (a == 1) return static_cast<double>(random.uniform());
    for (;;) {
        const double x = std::pow(static_cast<double>(random.uniform()), 1 / a);
        const double y = std::pow(static_cast<double>(random.uniform()), 1 / a);
        if (x + y > 0 && x + y <= 1) return x / (x + y);
    }
}

}  // namespace vkf
