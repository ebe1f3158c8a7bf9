// Constants from an op's types to those of a pipeline.
#pragma once

#include "graph/op.h"
#include "vulkan/kernel.h"

namespace vkf {

/// The 32 bits of each.
KernelConstants kernel_constants(const std::vector<std::pair<std::string, ConstantValue>>& constants);

}  // namespace vkf
