// Promises of a device that no op of a usual size needs, but large models and long runs do.
#pragma once

#include <span>
#include <string>

#include "program/program.h"

namespace vkf {
class Device;
}

namespace vkf::checks {

struct DeviceProbe {
    const char* name;
    /// The fault of the device, or "". Throws as Program does.
    std::string (*fault)(Device& device, const ProgramOptions& lowering);
};

inline constexpr const char* matrices_probe = "cooperative matrices";

/// Cooperative matrices without a fault when the device was opened (MatrixTrial in vulkan/device/device.h); workgroups
/// of the largest size, and with all shared memory; a buffer of the largest size, as far as a quarter of the free
/// memory allows, written and read to its end; a dispatch of a second or more, which is one long chain of additions;
/// timestamps that are not longer than the time that the host measures.
std::span<const DeviceProbe> device_probes();

}  // namespace vkf::checks
