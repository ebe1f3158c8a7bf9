#include "vulkan/device/loader.h"

#include <dlfcn.h>

#include "base/os/os.h"
#include "vulkan/handles.h"

namespace vkf {

bool open_vulkan_loader() {
    if (volkInitialize() == VK_SUCCESS) return true;
    const auto path = os::program_path().parent_path().parent_path() / "lib/vkformer/libvulkan.so.1";
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    volkInitializeCustom(reinterpret_cast<PFN_vkGetInstanceProcAddr>(::dlsym(library, "vkGetInstanceProcAddr")));
    return true;
}

}  // namespace vkf
