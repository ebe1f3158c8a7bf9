// The file in which a device's tuned kernels are kept between runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace vkf {

struct DeviceInfo;

/// What was found out for one kind of computation.
struct TuningResult {
    std::string kernel;                    // the chosen candidate
    std::map<std::string, double> gflops;  // of all that were timed
};

struct TuningCache {
    std::map<std::string, TuningResult> chosen;  // by kind and candidates
    /// What was wrong with a candidate, by the family of problems it was one for, and its name.
    std::map<std::string, std::map<std::string, std::string>> refused;

    /// Adds what others found out; what is known already stays.
    void merge(TuningCache others);
};

/// Where the files of all devices are, and for which kernels.
struct TuningCachePlace {
    std::filesystem::path folder;
    std::vector<std::string> kernels;  // names; when one's SPIR-V changes, what was found out is worth nothing
};

/// The device's own file.
std::filesystem::path tuning_cache_file(const DeviceInfo& device, const TuningCachePlace& place);

/// What it holds for this device, driver and build; nothing if it is missing or another's. Throws InputError naming the
/// file if it cannot be read or makes no sense.
TuningCache read_tuning_cache(const DeviceInfo& device, const TuningCachePlace& place);

/// Writes it, with what other processes have put there meanwhile. Throws Error.
void write_tuning_cache(const DeviceInfo& device, const TuningCachePlace& place, TuningCache cache);

}  // namespace vkf
