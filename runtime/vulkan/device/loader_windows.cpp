#include "vulkan/device/loader.h"
#include "vulkan/handles.h"

namespace vkf {

bool open_vulkan_loader() {
    return volkInitialize() == VK_SUCCESS;
}

}  // namespace vkf
