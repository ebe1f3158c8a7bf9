// Launch policy of sampling.
#pragma once

#include <cstdint>

#include "graph/op.h"

namespace vkf {

/// True if many workgroups prepare a row's words and weights for the one that draws: on a GPU, for wide rows.
inline bool prepares_sampling(const DeviceTraits& device, std::int64_t width) {
    constexpr std::int64_t worth_preparing = 8192;  // tokens; sweeping fewer takes less time than launches
    return !device.cpu && width > worth_preparing;
}

}  // namespace vkf
