// The file in which a device's tuned kernels are kept between runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vkf {

struct DeviceInfo;

/// Tuning result for one kind of computation.
struct TuningResult {
    std::string kernel;                    // the chosen candidate
    std::map<std::string, double> gflops;  // by candidate that was timed
};

/// Result of `vkformer check` over all tables of ops.
struct CheckVerdict {
    std::string date;
    std::int64_t checks = 0, failed = 0;
};

struct TuningCache {
    std::map<std::string, TuningResult> chosen;  // by kind and candidates
    /// Faults of candidates, by the problems' family and the candidate's name.
    std::map<std::string, std::map<std::string, std::string>> refused;
    /// Faults that `vkformer check` found in ops without another kernel, by the name of the check.
    std::map<std::string, std::string> wrong;
    /// Faults of cooperative matrices, by part of their trial (vulkan/device/device.h); nothing: not tried yet.
    std::optional<std::map<std::string, std::string>> matrices;
    std::optional<CheckVerdict> checked;  // the last one

    /// Adds the results of `others`; known results stay.
    void merge(TuningCache others);
};

/// Folder of the files of all devices, and the kernels that the files are for.
struct TuningCachePlace {
    std::filesystem::path folder;
    std::vector<std::string> kernels;  // names; results are worthless when one's SPIR-V changes
};

/// File of the device.
std::filesystem::path tuning_cache_file(const DeviceInfo& device, const TuningCachePlace& place);

/// Results in the device's file for this device, driver and build; none if it is missing or is for others. Throws
/// InputError naming the file if it cannot be read or is malformed.
TuningCache read_tuning_cache(const DeviceInfo& device, const TuningCachePlace& place);

/// Writes the results, with those that other processes have written meanwhile. Throws Error.
void write_tuning_cache(const DeviceInfo& device, const TuningCachePlace& place, TuningCache cache);

/// Adds faults, and a verdict if there is one, so that what is refused is not used from then on: computations for which
/// it was chosen are tuned anew. Throws Error.
void add_faults(const DeviceInfo& device, const TuningCachePlace& place, const TuningCache& faults);

/// Forgets the faults of the device's kernels and matrices, which are then tried anew, and returns their number;
/// choices stay. Throws Error.
std::size_t forget_faults(const DeviceInfo& device, const TuningCachePlace& place);

}  // namespace vkf
