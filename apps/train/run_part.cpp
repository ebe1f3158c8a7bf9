#include "apps/train/run_part.h"

#include <string>

#include "apps/cli/version.h"
#include "base/os/host_facts.h"
#include "base/text/utc_time.h"
#include "vulkan/device/device.h"

namespace vkf {

nlohmann::ordered_json run_part(const Common& common, const DeviceInfo& device, std::int64_t parameters) {
    nlohmann::ordered_json part{{"start", utc_now()},    {"vkformer", version()},   {"command", common.command_line},
                                {"device", device.name}, {"driver", device.driver}, {"vulkan", device.api_version}};
    if (const std::string processor = os::host_facts().processor; !processor.empty()) part["processor"] = processor;
    part["parameters"] = parameters;
    part["precision"] = common.precision + (common.activations() == Format::f16 ? " (float16)" : "");
    return part;
}

}  // namespace vkf
