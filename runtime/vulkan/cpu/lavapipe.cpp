#include "vulkan/cpu/lavapipe.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/os/memory.h"
#include "base/os/os.h"
#include "vulkan/device/physical_device.h"
#include "vulkan/handles.h"

namespace vkf {

namespace {

constexpr const char* vector_width = "LP_NATIVE_VECTOR_WIDTH";  // bits

bool is_lavapipe(const PhysicalDevice& device) {
    return device.properties12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
}

/// Major version of lavapipe's Mesa; 0 for other drivers.
int mesa_version(const PhysicalDevice& device) {
    constexpr std::string_view mesa = "Mesa ";  // its driverVersion is always 1
    const std::string_view info = device.properties12.driverInfo;
    if (!is_lavapipe(device) || !info.starts_with(mesa)) return 0;
    int version = 0;
    std::from_chars(info.data() + mesa.size(), info.data() + info.size(), version);
    return version;
}

}  // namespace

CpuDriverTraits cpu_driver_traits(const PhysicalDevice& device, std::uint32_t subgroup_size) {
    const int version = mesa_version(device);
    return {.loads_vectors = version >= 25,
            .checks_pushes = version == 25,
            .matrices_crash = is_lavapipe(device) && subgroup_size > 8};
}

std::string vector_width_refusal(const PhysicalDevice& device) {
    const char* width = std::getenv(vector_width);
    if (!is_lavapipe(device) || !width || !*width) return {};
    const std::string bits = width;
    if (bits == "128" || bits == "256" || bits == "512") return {};
    return text("has ", vector_width, '=', bits, ", wanted 128, 256 or 512");
}

void widen_cpu_subgroups() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && !os::environment(vector_width)) os::set_environment(vector_width, "512");
#endif
}

void require_driver_address_space() {
    // 750 MiB were measured on two processors; each further processor, and each thread that makes
    // pipelines, adds a thread's stack and heap.
    constexpr std::uint64_t base = 768 << 20, of_thread = 128 << 20, most_threads = 32;
    const std::uint64_t workers = std::max(1u, std::thread::hardware_concurrency());
    const std::uint64_t wanted = base + of_thread * (std::min(most_threads, workers) + compiling_threads(true) -
                                                     1);  // the calling thread is one of them
    const std::uint64_t left = free_address_space();
    if (left < wanted)
        throw Error("not enough memory for Vulkan's drivers: ", wanted >> 10, " KiB wanted, ", left >> 10, " KiB left",
                    memory_limits());
}

std::uint64_t free_cpu_bytes() {
    constexpr std::uint64_t compiler = 256 << 20;  // more than lavapipe takes for a model's kernels
    const std::uint64_t here = free_memory();
    return here - std::min(here, compiler);
}

}  // namespace vkf
