// Reports of benchmarks as one page of HTML.
#pragma once

#include <span>
#include <string>

#include "apps/bench/bench_report.h"

namespace vkf {

/// The devices, speeds by family beside the first report's as bars, and every measurement that two reports have; of one
/// report all measurements, and those that were left out. Throws InputError as comparison_notes() does.
std::string comparison_page(std::span<const BenchReport> reports);

}  // namespace vkf
