// Facts that a driver lists about its device, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "vulkan/device/device_facts.h"

namespace vkf {

/// Members for a device's object: queue families, memory, every listed cooperative matrix, limits, extensions.
nlohmann::ordered_json document(const DeviceFacts& facts);

}  // namespace vkf
