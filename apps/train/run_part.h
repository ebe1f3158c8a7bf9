// Description of a process that trains, for the run's log.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "apps/cli/common.h"

namespace vkf {

struct DeviceInfo;

/// Member "run" of metrics.jsonl: start (UTC), version of the program, command line, device, driver, Vulkan's version,
/// the host's processor if the system tells it, number of parameters, precision. It names neither user nor host, but
/// the command line may have paths.
nlohmann::ordered_json run_part(const Common& common, const DeviceInfo& device, std::int64_t parameters);

}  // namespace vkf
