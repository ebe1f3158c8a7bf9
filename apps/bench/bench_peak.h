// Peak rates of a device (its roofs): kernels that only multiply and add, in fp32 or by cooperative matrices, and
// kernels that only move memory.
#pragma once

#include "apps/bench/bench.h"

namespace vkf {

class Device;

/// Measures each peak for `seconds`. The best sample counts, because other load on the machine does not lower a peak.
Peak measure_peak(Device& device, double seconds);

/// Higher of two measurements, for each peak.
Peak higher(const Peak& a, const Peak& b);

}  // namespace vkf
