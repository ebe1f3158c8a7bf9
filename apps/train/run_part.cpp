#include "apps/train/run_part.h"

#include <fstream>
#include <string>

#include "apps/cli/version.h"
#include "base/text/utc_time.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Name of the host's first processor, as Linux tells it on x86; else "".
std::string processor_name() {
    std::ifstream facts("/proc/cpuinfo");
    for (std::string line; std::getline(facts, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "";
}

}  // namespace

nlohmann::ordered_json run_part(const Common& common, const DeviceInfo& device, std::int64_t parameters) {
    nlohmann::ordered_json part{{"start", utc_now()},    {"vkformer", version()},   {"command", common.command_line},
                                {"device", device.name}, {"driver", device.driver}, {"vulkan", device.api_version}};
    if (const std::string processor = processor_name(); !processor.empty()) part["processor"] = processor;
    part["parameters"] = parameters;
    part["precision"] = common.precision + (common.activations() == Format::f16 ? " (float16)" : "");
    return part;
}

}  // namespace vkf
