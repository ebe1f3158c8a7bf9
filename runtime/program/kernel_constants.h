// Converts an op's dispatch to the kernel that it asks for.
#pragma once

#include "graph/op.h"
#include "vulkan/kernel/kernel.h"

namespace vkf {

/// The constants, each as 32 bits.
KernelConstants kernel_constants(const std::vector<std::pair<std::string, ConstantValue>>& constants);
KernelRequest kernel_request(const Dispatch& dispatch);

}  // namespace vkf
