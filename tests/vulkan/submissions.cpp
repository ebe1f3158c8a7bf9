#include "vulkan/submissions.h"

#include "vulkan/device.h"
#include "vulkan/handles.h"

namespace vkf::test {

std::uint64_t submissions(Device& device) {
    return device.handles().submitted;  // each has a ticket of its own
}

}  // namespace vkf::test
