// Facts that a driver lists about its device, as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "vulkan/device/device_facts.h"

namespace vkf {

/// Members for a device's object: queue families, memory, every listed cooperative matrix, limits, extensions.
nlohmann::ordered_json document(const DeviceFacts& facts);

/// Size of the largest heap of the device's own memory that the host can map: all of it on a device that shares the
/// host's memory, and on a card with a resizable BAR; 256 MiB or none on other cards.
std::uint64_t host_visible_device_bytes(const DeviceFacts& facts);

}  // namespace vkf
