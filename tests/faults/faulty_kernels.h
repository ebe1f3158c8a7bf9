// Kernels with faults, for the layer of driver_faults.cpp.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <string_view>
#include <vector>

/// The fault of this process: $VKFORMER_FAULT, or "".
std::string_view fault();

/// A kernel as the driver gets it.
struct FaultyKernel {
    std::vector<std::uint32_t> words;
    bool root = false;      // it takes a square root
    bool matrices = false;  // it multiplies by cooperative matrices
};

/// SPIR-V with the fault of this process.
FaultyKernel faulty(const std::uint32_t* code, std::size_t bytes);

/// Ends or blocks the process if the fault is that of a driver which does so when it makes the kernel.
void fail_at(const FaultyKernel& kernel);

/// Limits that this driver really has, if it claims to have more.
constexpr std::uint32_t real_shared_bytes = 32768, real_invocations = 128;

/// Specialisation with no more invocations in a workgroup than the driver has, if it claims more: the others never run.
/// `info` may be null. The result is valid until the next call.
const VkSpecializationInfo* with_real_group(const VkSpecializationInfo* info);

/// True if the kernel has more shared memory than the driver has, which claims more.
bool shares_too_much(const FaultyKernel& kernel, const VkSpecializationInfo* info);
