#include "apps/check/check_options.h"

#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

std::function<void(DeviceInfo&)> pretence(const CheckOptions& options) {
    if (options.pretend != "small-gpu") return {};
    return [](DeviceInfo& info) {
        info.kind = DeviceKind::integrated;
        info.max_group = 128;
        info.shared_bytes = 16384;
    };
}

DeviceTraits check_traits(const Device& device, const CheckOptions& options) {
    DeviceTraits made = traits(device);
    if (!options.pretend.empty()) made.cpu = false;
    return made;
}

}  // namespace vkf
