// All facts that a driver reports of its device: for reports, which also show what our kernels do not use.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vulkan/device/device.h"

namespace vkf {

struct QueueFamily {
    std::vector<std::string> flags;  // "graphics", "compute", "transfer", …
    std::uint32_t queues = 0;
    std::uint32_t timestamp_bits = 0;  // 0: its queues have no timestamps
};

struct MemoryHeap {
    std::uint64_t bytes = 0;
    std::vector<std::string> flags;  // "device local", …
};

struct MemoryType {
    std::uint32_t heap = 0;
    std::vector<std::string> flags;  // "device local", "host visible", …
};

/// A cooperative matrix product that a driver lists: with exactly these extents (VK_KHR_cooperative_matrix), or with
/// their multiples (VK_NV_cooperative_matrix2).
struct ListedMatrix {
    bool flexible = false;  // extents must be multiples of m, n and k
    std::uint32_t m = 0, n = 0, k = 0;
    std::string a, b, c, result;    // "fp16", "bf16", "fp32", "sint8", …; a number if the name is unknown
    std::string scope;              // "subgroup", "workgroup", …
    std::uint32_t invocations = 0;  // of the workgroup that holds the matrix; 0: any number
    bool saturates = false;
    std::string refusal;  // reason why our kernels do not use it; empty: they may
};

struct DeviceFacts {
    std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
    std::vector<QueueFamily> queue_families;
    std::uint32_t queue_family = 0;  // index of the family to which kernels are submitted
    std::vector<MemoryHeap> heaps;
    std::vector<MemoryType> memory_types;
    std::vector<ListedMatrix> matrices;                           // in the driver's order
    std::vector<std::pair<std::string, std::uint64_t>> limits;    // under Vulkan's names
    std::vector<std::pair<std::string, std::uint32_t>> versions;  // versions of the device's extensions, by name
};

/// Facts of all devices, in the order of list_devices(); refused ones are not asked for their matrices. Throws Error as
/// list_devices() does.
std::vector<DeviceFacts> list_device_facts(const MatrixTrial& trial = {});

}  // namespace vkf
