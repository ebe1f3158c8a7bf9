// The roofs: what a device reaches when a kernel does nothing but multiply and add, in fp32 or by
// cooperative matrices, or nothing but move memory.
#pragma once

#include "apps/bench.h"

namespace vkf {

class Device;

/// Measures for `seconds` each; the best sample counts, for a roof is not lowered by what else the machine does.
Peak measure_peak(Device& device, double seconds);

/// The better of two measurements, roof by roof.
Peak higher(const Peak& a, const Peak& b);

}  // namespace vkf
