// Number of submissions to a device's queue.
#pragma once

#include <cstdint>

namespace vkf {
class Device;
}

namespace vkf::test {

std::uint64_t submissions(Device& device);

}  // namespace vkf::test
