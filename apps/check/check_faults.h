// Faults of a device's kernels: kept for later runs, and as folders that repeat them.
#pragma once

#include <string>

#include "apps/check/check_report.h"
#include "program/tuning_cache.h"

namespace vkf {

class Device;
struct Common;
struct CheckOptions;

/// Faults of a report for the cache of tuned kernels. A candidate of a failed check is refused; if it has passed other
/// checks, only where all candidates of the failed check have. A failed check without a choice of kernels is `wrong`.
TuningCache faults_of(const CheckReport& report);

/// Writes a folder for each of the first 16 failed checks into `directory`, from which `--replay` repeats it:
/// case.json, the kernels as SPIR-V, inputs.safetensors, expected.safetensors in double. Throws Error.
void write_failures(const Common& common, const CheckOptions& options, const CheckReport& report, const Device& device,
                    const std::string& directory);

/// Repeats the check of a folder in a process of its own. Throws InputError if the folder has none, or belongs to
/// another build or to another device.
CheckResult replay(const Common& common, const CheckOptions& options);

}  // namespace vkf
