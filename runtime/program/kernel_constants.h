// From what an op says of a launch to the kernel it asks for.
#pragma once

#include "graph/op.h"
#include "vulkan/kernel.h"

namespace vkf {

/// The 32 bits of each.
KernelConstants kernel_constants(const std::vector<std::pair<std::string, ConstantValue>>& constants);
KernelRequest kernel_request(const Dispatch& dispatch);

}  // namespace vkf
