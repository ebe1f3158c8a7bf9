#include "vulkan/submissions.h"

#include "vulkan/device/device.h"
#include "vulkan/handles.h"

namespace vkf::test {

std::uint64_t submissions(Device& device) {
    return device.handles().submitted;  // each submission has its own ticket
}

}  // namespace vkf::test
