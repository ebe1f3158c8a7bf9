#include "ops/movement/radix_sort.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace vkf {

Scratch sort_by_key(Lowering& lowering, Tensor keys, std::int64_t rows, std::int64_t key_count) {
    constexpr std::uint32_t section = 1024, digit_bits = 8, radix = 1 << digit_bits;
    const auto bits = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(key_count - 1)));
    const std::int64_t sections = (rows + section - 1) / section;
    const Scratch counts = lowering.scratch(sections * radix);
    Scratch sorted = lowering.scratch(rows), other = bits > digit_bits ? lowering.scratch(rows) : sorted;
    const std::uint32_t group = std::min(radix, lowering.device.max_group);
    std::uint32_t shift = 0;
    do {
        const bool first = shift == 0;
        const ArgValue order = first ? ArgValue{} : ArgValue{other};
        const auto launch = [&](std::string kernel, Args args, double words) {
            args.insert(args.end(), {{"keys", keys},
                                     {"order", order},
                                     {"counts", counts},
                                     {"rows", checked_u32(rows)},
                                     {"key_count", checked_u32(key_count)},
                                     {"shift", shift}});
            lowering.dispatch({.kernel = std::move(kernel),
                               .constants = {{"GROUP", group}, {"SECTION", section}, {"FIRST", first}},
                               .args = std::move(args),
                               .groups = static_cast<std::uint64_t>(sections),
                               .bytes = 4.0 * words * static_cast<double>(rows)});
        };
        launch("radix_count", {}, first ? 1 : 2);
        launch("radix_scatter", {{"sorted", sorted}, {"sections", checked_u32(sections)}}, first ? 2 : 3);
        std::swap(sorted, other);
        shift += digit_bits;
    } while (shift < bits);
    return other;
}

}  // namespace vkf
