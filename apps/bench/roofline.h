// A device's roofline: FLOP/s over FLOPs per byte, both logarithmic.
#pragma once

#include <string>

#include "apps/bench/bench_report.h"

namespace vkf {

/// SVG document with the two roofs and every measurement that computes something, coloured by family. Names that would
/// cover others are left out; a browser shows them, and the figures, under the pointer.
std::string roofline_svg(const BenchReport& report);

}  // namespace vkf
