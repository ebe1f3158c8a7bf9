// The file in which a device's choices of kernels are kept between runs.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace vkf {

struct DeviceInfo;

/// What was found out for one kind of computation.
struct Choice {
    std::string kernel;                    // the chosen candidate
    std::map<std::string, double> gflops;  // of all that were timed
};

struct Choices {
    std::map<std::string, Choice> chosen;        // by kind and candidates
    std::map<std::string, std::string> refused;  // candidates that were wrong, and why

    /// Adds what others found out; what is known already stays.
    void merge(Choices others);
};

/// The device's own file in the folder.
std::filesystem::path choice_file(const DeviceInfo& device, const std::filesystem::path& folder);

/// What it holds for this device, driver and build; nothing if it is missing or another's. Throws InputError naming the
/// file if it cannot be read or makes no sense.
Choices read_choices(const DeviceInfo& device, const std::filesystem::path& folder);

/// Writes it, with what other processes have put there meanwhile. Throws Error.
void write_choices(const DeviceInfo& device, const std::filesystem::path& folder, Choices choices);

}  // namespace vkf
