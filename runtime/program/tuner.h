// Which kernels a device gets: tried on it once, checked, timed, and remembered.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/chooser.h"
#include "program/choice_file.h"

namespace vkf {

class Device;
struct DeviceInfo;

/// The ways of computing a matrix product for which this device has what it takes, if what it says is true: "lanes",
/// "tile", "coopmat", "coopmat2" (runtime/ops/matmul_tiling.h). Attention has the same ones.
std::vector<std::string> product_ways(const DeviceInfo& device);

struct TunerOptions {
    std::string way = "auto";                                // or the only one to use, where it can be
    std::optional<std::filesystem::path> cache = {};         // the folder of what earlier runs found out
    std::function<void(const std::string& line)> tell = {};  // somebody who wants to know what is left out and why
};

/// Runs every candidate on operands whose result is known (graph/chooser.h), with guard bands and poisoned memory
/// around them, leaves out those that are wrong, that the driver does not take or that lose the device, and keeps the
/// fastest of the others. A device's advertised features are not trusted beyond that.
///
/// On a CPU with `way` "auto" nothing is tried: the model of runtime/ops/matmul_tiling.cpp has been measured there.
///
/// The choices are kept in the cache folder, one file per device, driver, subgroup size and version of the kernels. It
/// is written whole or not at all; what cannot be read is measured anew, and what cannot be written is forgotten.
class Tuner : public Chooser {
public:
    /// Throws InputError if the device cannot do it the way that is asked for.
    Tuner(Device& device, TunerOptions options);

    /// Throws Error if no candidate computes right, or a candidate loses the device; InputError if the only way that
    /// was allowed cannot be used for what the graph computes.
    std::size_t choose(const DeviceTraits& device, const Question& question) override;

private:
    Choice measure(const DeviceTraits& device, const Question& question, const std::vector<std::string>& candidates);
    void tell(const std::string& line) const;
    void save() const;

    Device& device_;
    TunerOptions options_;
    bool measured_ = false;
    Choices known_;
};

}  // namespace vkf
