#include "ops/cpu/decode_config.h"

#include <algorithm>

#include "base/integers.h"

namespace vkf {

namespace {

constexpr std::int64_t out_of_cache_elements = 1 << 19;  // from this size on a matrix comes from memory

/// Number of stretches of `columns` columns of b per workgroup: one, or up to three if b comes from memory, where
/// longer reads are faster; chosen so that the fewest columns are past b's edge.
std::uint32_t stretches(const GemmShape& shape, std::uint32_t columns) {
    if (shape.k * shape.n < out_of_cache_elements) return 1;
    const auto width = [&](std::uint32_t count) { return ceil_div(shape.n, count * columns) * count; };
    std::uint32_t best = 3;
    for (const std::uint32_t count : {2U, 1U})
        if (width(count) < width(best)) best = count;
    return best;
}

}  // namespace

std::uint32_t cpu_decode_stripe(const DeviceTraits& device, const GemmShape& shape) {
    const std::uint32_t lanes = device.subgroup_size;
    if (!shape.transpose_b) return cache_line * lanes * stretches(shape, cache_line * lanes);
    constexpr std::int64_t many = 16384;
    return shape.n >= many ? 4 * lanes : lanes;
}

std::optional<KernelConfig> unrolled_decode_config(const DeviceTraits& device, const GemmShape& shape) {
    constexpr std::int64_t longest = 6144;  // elements of b per workgroup
    constexpr std::int64_t deepest = 64, vectors = 4, sums = 32;
    constexpr std::int64_t least = 100000;  // elements of the whole b
    if (!device.uniform_loads || shape.batches != 1 || shape.packed_factors || shape.k * shape.n < least)
        return std::nullopt;
    const std::int64_t lanes = device.subgroup_size;
    std::int64_t stripe = vectors * lanes, terms = shape.k;
    if (shape.transpose_b) {
        stripe = std::min({lanes, sums / shape.m, std::int64_t{8}});
        while (stripe > 4 && stripe * terms > longest) stripe /= 2;
    } else if (terms > deepest && shape.k * shape.n >= out_of_cache_elements) {
        for (terms = deepest; shape.k % terms != 0;) --terms;
    }
    const std::int64_t groups = ceil_div(shape.n, stripe) * (shape.k / terms);
    if (stripe * terms > longest || (!shape.transpose_b && terms > deepest) || terms < lanes) return std::nullopt;
    if (stripe > shape.n || groups >= 1 << 16) return std::nullopt;
    KernelConfig made{"decode",
                      "matmul_decode_unrolled",
                      {{"GROUP", device.subgroup_size},
                       {"ROWS", static_cast<std::uint32_t>(shape.m)},
                       {"STRIPE", static_cast<std::uint32_t>(stripe)},
                       {"TERMS", static_cast<std::uint32_t>(terms)}}};
    made.tiles = ceil_div(shape.n, stripe);
    made.chunk = terms;
    made.splits = shape.k / terms;
    return made;
}

}  // namespace vkf
