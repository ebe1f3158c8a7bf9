// Kernels as shader objects (VK_EXT_shader_object), whose binaries are kept from one run to the next; for this folder.
//
// For drivers whose pipeline cache keeps nothing: lavapipe keeps what LLVM made of a kernel, but begins at SPIR-V again
// at each start, which takes milliseconds a kernel, tenths of a second for code that it unrolls. A shader object's
// binary is its own code, ready for LLVM; and made of a binary, the object takes half of the memory: code that was
// transformed lies in memory with what was removed from it.
#pragma once

#include <volk.h>

#include <string>

#include "vulkan/handles.h"

namespace vkf {

/// The kernel, which is the caller's: from the binary that an earlier run left for this driver, otherwise compiled, and
/// its binary left there. A binary that the driver does not know, or that cannot be read or written, counts as none.
/// Throws Error if the kernel has no such constant.
VkShaderEXT make_shader_object(const Device& device, const Kernel& kernel, const KernelRequest& request);

/// Removes the oldest binaries, if all in the folder take more than this.
void limit_binaries(const std::string& folder, std::uintmax_t bytes);

}  // namespace vkf
