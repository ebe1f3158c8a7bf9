// A process of checks: goes through a part of the plan and prints a line before and after each check.
#pragma once

namespace vkf {

struct Common;
struct CheckOptions;

/// Runs the checks that the options select, in this process. A driver that crashes ends it; after a check that threw,
/// the process ends with status 1, because the device may be unusable. Prints JSON lines (apps/check/check_lines.h).
void check_in_process(const Common& common, const CheckOptions& options);

}  // namespace vkf
