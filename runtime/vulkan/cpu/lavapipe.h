// Quirks of lavapipe, Mesa's Vulkan driver for CPUs, whose devices are called llvmpipe. Only runtime/vulkan/cpu and
// runtime/ops/cpu name the driver (tests/house); other code asks for a trait. More about the driver: its memory in
// host_pool.h, its threads in workers.h, its kernels' binaries in shader_objects.h.
#pragma once

#include <cstdint>
#include <string>

namespace vkf {

struct PhysicalDevice;  // vulkan/device/physical_device.h

/// Properties of a CPU device's driver that decide which kernels run. All are false for other drivers than lavapipe.
struct CpuDriverTraits {
    /// The driver turns the loads of shaders/lib/uniform_loads.glsl into vector loads: lavapipe since Mesa 25. Observed
    /// with 25.0 and 26.1; earlier versions were not examined.
    bool loads_vectors = false;
    /// The driver bounds-checks reads of push constants by branches, which shaders/matmul/matmul_unrolled.comp needs:
    /// lavapipe of Mesa 25. Observed with 25.0 (LLVM 15 and 19), not with 26.1, where the kernel takes three times as
    /// long.
    bool checks_pushes = false;
    /// The driver lists cooperative matrices for subgroups of 16, but crashes when it compiles them. Observed with Mesa
    /// 26.1, which compiles those for subgroups of 8; 25.0 lists none.
    bool matrices_crash = false;
};

CpuDriverTraits cpu_driver_traits(const PhysicalDevice& device, std::uint32_t subgroup_size);

/// Reason why the driver cannot use the vector width that the environment sets, LP_NATIVE_VECTOR_WIDTH; empty if it
/// can, and for other drivers. The driver accepts any width, but has registers for 128, 256 and 512 bits only: with
/// others it computes wrongly or compiles forever.
std::string vector_width_refusal(const PhysicalDevice& device);

/// On x86 processors with AVX-512, sets LP_NATIVE_VECTOR_WIDTH=512 unless the user has set it. The driver would use 256
/// bits, and thus subgroups of 8 instead of 16. To be called before the instance is made: the driver then reads it.
void widen_cpu_subgroups();

/// Throws Error unless there is address space for the memory that the driver reserves before a model is loaded: the
/// driver and its compiler end the process if an allocation fails, which a caller cannot prevent. free_cpu_bytes()
/// leaves memory free for compiling later.
void require_driver_address_space();

/// Bytes of this machine's memory that buffers of a CPU device can take: the free ones without those that the driver
/// takes to compile a model's kernels.
std::uint64_t free_cpu_bytes();

/// Advice to a user without a Vulkan device.
inline constexpr const char* cpu_driver_advice = "Mesa's lavapipe runs on any CPU";
/// Value of --device that chooses the driver's device, for examples.
inline constexpr const char* cpu_device_example = "llvmpipe";

}  // namespace vkf
