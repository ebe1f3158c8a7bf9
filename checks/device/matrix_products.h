// Products by a device's cooperative matrices, for their trial in a process that a driver may end.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace vkf {

class Device;

namespace checks {

struct MatrixProduct {
    std::string part;  // of the trial: "fp16", "bf16" or "workgroup" (vulkan/device/device.h)
    std::string name;  // extents or kernel
    /// Multiplies and describes the fault of the result; empty if there is none. Throws Error if the driver rejects the
    /// kernel or the device is lost, DeviceHang if it does not end.
    std::function<std::string(Device&)> fault;
};

/// A product of each shape of a subgroup's matrices that kernels would use on the device, of small whole numbers, which
/// must be exact; and, with a workgroup's matrices, of operands that are rounded to 16 bits.
std::vector<MatrixProduct> matrix_products(const Device& device);

}  // namespace checks
}  // namespace vkf
