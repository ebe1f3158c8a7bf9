// Launch policy of kernels that work row by row: sizes of workgroups, and cut of rows into workgroups and lanes
// (shaders/rows/row_registers.glsl, shaders/attention/head_rows.glsl).
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "graph/op.h"
#include "ops/vector_layout.h"

namespace vkf {

/// Invocations per workgroup for a kernel that gives one workgroup to each row of `width` elements.
inline std::uint32_t row_group(const DeviceTraits& device, std::int64_t width) {
    if (device.cpu) return device.subgroup_size;
    const std::int64_t lanes = device.subgroup_size;
    const std::int64_t limit = std::min<std::int64_t>({device.max_group, 256, 32 * lanes});
    return static_cast<std::uint32_t>(std::clamp((width + lanes - 1) / lanes * lanes, lanes, limit));
}

/// `groups` workgroups of `group` invocations, each taking `per_group` consecutive rows one after the other.
struct RowSweep {
    std::uint32_t group;
    std::uint32_t per_group;
    std::uint64_t groups;
};

/// Equal shares for workgroups of row_group(device, width) invocations; `most` bounds their number (0: no bound).
inline RowSweep row_sweep(const DeviceTraits& device, std::int64_t rows, std::int64_t width, std::int64_t most = 0) {
    const auto divided = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
    std::int64_t per_group = 1;
    if (device.cpu) {  // starting a workgroup costs about as much as a thousand elements
        const std::int64_t wanted = std::int64_t{device.compute_units} * 8;
        per_group = std::max(divided(rows, wanted), divided(2048, std::max<std::int64_t>(width, 1)));
    }
    if (most > 0) per_group = std::max(per_group, divided(rows, most));
    return {row_group(device, width), checked_u32(per_group), static_cast<std::uint64_t>(divided(rows, per_group))};
}

/// Registers in which an invocation holds its part of a row; 0 if these are more than `most`: the row is read again.
inline std::uint32_t registers_per_lane(std::uint32_t group, std::int64_t width, std::int64_t most) {
    const std::int64_t registers = (width + group - 1) / group;
    return registers <= most ? checked_u32(registers) : 0;
}

/// Pairs of neighbours per invocation and block for shaders/loss/log_sum.glsl.
inline std::uint32_t pairs_per_block(std::uint32_t group, std::int64_t width) {
    return checked_u32(std::clamp<std::int64_t>((width / 2 + group - 1) / group, 1, 8));
}

/// Rows distributed to workgroups whose invocations are spread along a row, with a pair of columns each.
struct PairRows : RowSweep {
    std::uint32_t strip;  // pairs an invocation holds at a time: its whole part of the row where registers allow
    bool aligned;         // the width is even

    /// Common layout of these tensors, of which some may be absent.
    std::uint32_t form(std::initializer_list<Tensor> tensors) const {
        const std::span list(tensors.begin(), tensors.size());
        return aligned ? vector_layout(list) : vector_layout(false);
    }
};

/// `count` rows of `width` elements; `most` bounds the number of workgroups (0: no bound).
inline PairRows pair_rows(const DeviceTraits& device, std::int64_t count, std::int64_t width, std::int64_t most = 0) {
    const std::int64_t pairs = (width + 1) / 2;
    PairRows made{row_sweep(device, count, pairs, most), 0, width % 2 == 0};
    made.strip = registers_per_lane(made.group, pairs, device.cpu ? 64 : 8);
    if (made.strip == 0) made.strip = 8;
    return made;
}

/// Rows of `heads` heads distributed to lanes as in shaders/attention/head_rows.glsl.
struct HeadRows {
    std::uint32_t group, lanes, strip, per_group;  // `lanes` per head, `strip` pairs per lane at a time
    std::uint64_t groups;
    bool aligned;  // a head's width is even
};

/// On CPUs a lane has as much of a head as it can keep, so that few sums go across lanes; but if a head is a whole long
/// row, all lanes read it from one end to the other. On GPUs neighbouring lanes read neighbouring pairs.
inline HeadRows head_rows(const DeviceTraits& device, std::int64_t rows, std::int64_t heads, std::int64_t width) {
    const auto divided = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
    const std::int64_t pairs = divided(width, 2), subgroup = device.subgroup_size, most = device.cpu ? 32 : 8;
    const std::int64_t room = device.cpu ? subgroup : std::min<std::int64_t>(128, device.max_group);
    std::int64_t lanes = 1;
    const auto wants_more = [&] {
        if (!device.cpu) return 2 * lanes * heads <= room;
        return heads == 1 ? pairs > most : divided(pairs, lanes) > most;
    };
    while (2 * lanes <= std::min(subgroup, pairs) && wants_more()) lanes *= 2;
    const std::int64_t group = std::min(divided(heads * lanes, subgroup) * subgroup, room / subgroup * subgroup);
    const std::int64_t together = group == subgroup ? std::max<std::int64_t>(1, subgroup / (heads * lanes)) : 1;
    const RowSweep share = row_sweep(device, rows, heads * width);
    const std::int64_t per_group = divided(share.per_group, together) * together;
    return {.group = checked_u32(group),
            .lanes = checked_u32(lanes),
            .strip = checked_u32(std::min(divided(pairs, lanes), most)),
            .per_group = checked_u32(per_group),
            .groups = static_cast<std::uint64_t>(divided(rows, per_group)),
            .aligned = width % 2 == 0};
}

/// Bound on the workgroups of a norm's forward pass (0: no bound). A GPU gets as many as run at once: each reads weight
/// and bias once, and prefetches.
inline std::int64_t norm_groups(const DeviceTraits& device, std::int64_t width) {
    constexpr std::int64_t resident = 2048;  // invocations per multiprocessor
    if (device.cpu) return 0;
    return std::int64_t{device.compute_units} * (resident / row_group(device, (width + 1) / 2));
}

/// Bound on the workgroups of a norm's backward pass: few, so that their partial sums are a small part of the work.
inline std::int64_t norm_backward_groups(const DeviceTraits& device) {
    return std::int64_t{device.compute_units} * (device.cpu ? 4 : 8);
}

/// True if a workgroup with several rows fetches the next row while it sums the present one: an invocation's registers
/// must hold both. An invocation has 2 · strip elements of each vector of a row's width, and keeps `held` such vectors.
inline bool prefetches_rows(const DeviceTraits& device, const PairRows& grid, std::int64_t width, std::uint32_t held) {
    constexpr std::uint32_t others = 32;  // addresses, sums
    const bool one_strip = width <= 2 * std::int64_t{grid.group} * grid.strip;
    return !device.cpu && grid.per_group > 1 && one_strip && held * 2 * grid.strip + others <= device.registers;
}

/// Cut of the sums of rows. `narrow`: an invocation sums a row by itself; else a workgroup sums one row after the
/// other.
struct RowSums {
    bool narrow;
    std::uint32_t group;
    std::int64_t per_group;
};
inline RowSums row_sums(const DeviceTraits& device, std::int64_t rows, std::int64_t width) {
    const auto divided = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
    const bool narrow = width < (device.cpu ? 64 : 2 * std::int64_t{device.subgroup_size});
    const std::uint32_t group = row_group(device, narrow ? rows : width);
    const std::int64_t share = divided(rows, std::int64_t{device.compute_units} * 8);
    const std::int64_t each = device.cpu ? std::max(share, divided(2048, width)) : 1;
    return {narrow, group, narrow ? divided(each, group) * group : each};
}

/// Pairs of columns that an invocation sums side by side.
inline std::int64_t column_pairs(const DeviceTraits& device, std::int64_t width, std::uint32_t group) {
    return device.cpu ? std::clamp<std::int64_t>((width + 2 * group - 1) / (2 * group), 1, 8) : 1;
}

}  // namespace vkf
