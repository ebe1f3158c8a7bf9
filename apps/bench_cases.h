// The kernels that training and generation spend their time in, at the sizes of real models.
#pragma once

#include <vector>

#include "apps/bench_timing.h"

namespace vkf {

std::vector<Case> kernel_cases();

}  // namespace vkf
