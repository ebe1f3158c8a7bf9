// A driver's words about a lost device, by VK_EXT_device_fault; for the folder runtime/vulkan only.
#pragma once

#include <string>

namespace vkf {

struct DeviceHandles;

/// Description, addresses and the vendor's words of the fault that lost the device, as one plain line of 1000 bytes at
/// most; empty if the driver has no such words or no such extension.
std::string fault_words(const DeviceHandles& handles);

}  // namespace vkf
