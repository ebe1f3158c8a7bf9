// Launch policy of convolutions: cut of their work into workgroups.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph/op.h"

namespace vkf {

/// Length of equal parts of `count`, as long as possible, of at most `most`: 14 of at most 8 gives 7.
inline std::int64_t even_part(std::int64_t count, std::int64_t most) {
    const std::int64_t parts = (count + most - 1) / most;
    return (count + parts - 1) / parts;
}

/// Neighbouring results that an invocation keeps in registers.
inline constexpr std::int64_t conv_strip = 8;

/// `groups` workgroups of `group` invocations, each workgroup for `per_group` consecutive strips.
struct ConvStrips {
    std::uint32_t group, per_group;
    std::uint64_t groups;
};

/// Cut of strips. A workgroup of a CPU gets several strips for each invocation.
inline ConvStrips conv_strips(const DeviceTraits& device, std::int64_t strips) {
    const auto divided = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
    const std::int64_t group = device.cpu ? device.subgroup_size : std::min<std::uint32_t>(256, device.max_group);
    const std::int64_t share = divided(strips, std::int64_t{device.compute_units} * 8);
    const std::int64_t each = device.cpu ? std::max<std::int64_t>(4, divided(share, group)) : 1;
    return {checked_u32(group), checked_u32(each * group), static_cast<std::uint64_t>(divided(strips, each * group))};
}

/// Cut of sums over `rows` rows of pixels into `runs` runs of `run` rows. `groups` workgroups of `group` invocations
/// make the sums of a run.
struct ConvRuns {
    std::uint32_t group;
    std::int64_t groups, run, runs;
};

/// `sums` invocations make the sums of a run. There are enough runs to occupy the device, of at least 4 rows each.
inline ConvRuns conv_runs(const DeviceTraits& device, std::int64_t sums, std::int64_t rows) {
    const auto divided = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
    const std::int64_t group = device.cpu ? device.subgroup_size : std::min<std::uint32_t>(256, device.max_group);
    const std::int64_t groups = divided(sums, group);
    const std::int64_t wanted = divided(std::int64_t{device.compute_units} * 8, groups);
    const std::int64_t run = divided(rows, std::clamp<std::int64_t>(rows / 4, 1, wanted));
    return {checked_u32(group), groups, run, divided(rows, run)};
}

}  // namespace vkf
