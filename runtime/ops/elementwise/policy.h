// Launch policy of elementwise kernels: cut of their work into workgroups.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph/op.h"

namespace vkf {

/// `groups` workgroups of `group` invocations, each sweeping `per_group` consecutive elements.
struct Sweep {
    std::uint32_t group;
    std::uint32_t per_group;
    std::uint64_t groups;
};

/// Equal sweeps, enough to occupy the device and long enough to be worth starting. All begin at a multiple of 4.
inline Sweep sweep(const DeviceTraits& device, std::int64_t count) {
    const std::int64_t group = device.cpu ? device.subgroup_size : std::min<std::uint32_t>(256, device.max_group);
    const std::int64_t wanted_groups = std::int64_t{device.compute_units} * 8;
    const std::int64_t least = device.cpu ? 2048 : group * 4;
    const std::int64_t share = std::max(least, (count + wanted_groups - 1) / wanted_groups);
    const std::int64_t most = device.cpu ? share : group * 16;
    const std::int64_t least_step = 4 * group;
    const std::int64_t per_group = (std::min(share, most) + least_step - 1) / least_step * least_step;
    return {checked_u32(group), checked_u32(per_group),
            static_cast<std::uint64_t>((count + per_group - 1) / per_group)};
}

}  // namespace vkf
