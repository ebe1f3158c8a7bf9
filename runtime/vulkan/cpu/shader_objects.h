// Kernels as shader objects (VK_EXT_shader_object) whose binaries are kept between runs; for the folder runtime/vulkan.
//
// For drivers whose pipeline cache keeps nothing: lavapipe keeps LLVM's output for a kernel, but translates SPIR-V
// again at each start, which takes milliseconds per kernel, and tenths of a second for code that it unrolls. A shader
// object's binary is lavapipe's own code, ready for LLVM. An object made from a binary takes half of the memory:
// transformed code stays in memory together with the code that was removed from it.
#pragma once

#include <volk.h>

#include <string>

#include "vulkan/handles.h"

namespace vkf {

/// Makes the kernel, owned by the caller: from the binary that an earlier run saved for this driver; otherwise compiles
/// it and saves the binary. A binary that the driver rejects, or that cannot be read or written, counts as none. Throws
/// Error if the kernel lacks a requested constant.
VkShaderEXT make_shader_object(const Device& device, const Kernel& kernel, const KernelRequest& request);

/// Removes the oldest binaries of the folder until the others take at most `bytes` bytes. Ignores failures.
void limit_binaries(const std::string& folder, std::uintmax_t bytes);

}  // namespace vkf
