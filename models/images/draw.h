// What the image recipes draw at random: streams by epoch and place, and the few distributions they use.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/random.h"

namespace vkf {

/// The stream of number `place` (of an image, of a batch) in an epoch: a function of the four arguments alone.
/// Throws: InputError unless epoch and place are below 2^32.
inline Random epoch_stream(std::uint64_t seed, std::string_view name, std::uint64_t epoch, std::uint64_t place) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 32;
    require(epoch < limit && place < limit, name, ": number ", place, " of epoch ", epoch, ", wanted both below ",
            limit);
    return Random(seed, name, epoch << 32 | place);
}

/// Whether something of this probability happens.
inline bool happens(Random& random, double probability) {
    return static_cast<double>(random.uniform()) < probability;
}

/// [low, high), in steps of 2^-24 of the distance.
inline double between(Random& random, double low, double high) {
    return low + (high - low) * static_cast<double>(random.uniform());
}

/// 0 … n-1.
inline int index_below(Random& random, int n) {
    require(n > 0, "random: a number below ", n, ", wanted at least one to choose from");
    return static_cast<int>(random.below(static_cast<std::uint64_t>(n)));
}

/// -1 or 1.
inline int sign(Random& random) {
    return (random.bits() & 0x80000000u) ? -1 : 1;
}

}  // namespace vkf
