// What a driver says of its device, in full: for reports, which show what is left unused beside what kernels use.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vkf {

struct QueueFamily {
    std::vector<std::string> flags;  // "graphics", "compute", "transfer", …
    std::uint32_t queues = 0;
    std::uint32_t timestamp_bits = 0;  // 0: its queues take no timestamps
};

struct MemoryHeap {
    std::uint64_t bytes = 0;
    std::vector<std::string> flags;  // "device local", …
};

struct MemoryType {
    std::uint32_t heap = 0;
    std::vector<std::string> flags;  // "device local", "host visible", …
};

/// A cooperative matrix product that a driver lists: of exactly these extents (VK_KHR_cooperative_matrix), or of
/// their multiples (VK_NV_cooperative_matrix2).
struct ListedMatrix {
    bool flexible = false;  // m, n and k are what extents must be multiples of
    std::uint32_t m = 0, n = 0, k = 0;
    std::string a, b, c, result;    // "fp16", "bf16", "fp32", "sint8", …; a number where we know no name
    std::string scope;              // "subgroup", "workgroup", …
    std::uint32_t invocations = 0;  // of the workgroup that holds it; 0: any
    bool saturates = false;
    std::string refusal;  // why our kernels do not use it; empty: they may
};

struct DeviceFacts {
    std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
    std::vector<QueueFamily> queue_families;
    std::uint32_t queue_family = 0;  // the one that kernels are submitted to
    std::vector<MemoryHeap> heaps;
    std::vector<MemoryType> memory_types;
    std::vector<ListedMatrix> matrices;                           // in the driver's order
    std::vector<std::pair<std::string, std::uint64_t>> limits;    // by Vulkan's names
    std::vector<std::pair<std::string, std::uint32_t>> versions;  // of the device's extensions, by name
};

/// Those of every device, in the order of list_devices().
std::vector<DeviceFacts> list_device_facts();

}  // namespace vkf
