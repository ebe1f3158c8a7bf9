// Which kernels a device gets: tried on it once, checked, timed, and remembered.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/autotuner.h"
#include "program/tuning_cache.h"

namespace vkf {

class Device;
struct DeviceInfo;

/// The kernel implementations of matrix products for which this device has what it takes, if what it says is true:
/// "subgroup", "tile", "coopmat", "coopmat2" (runtime/ops/gemm_config.h). Attention has the same ones.
std::vector<std::string> kernel_implementations(const DeviceInfo& device);

struct AutotunerOptions {
    std::string implementation = "auto";                     // or the only one to use, where it can be
    std::optional<TuningCachePlace> cache = {};              // what earlier runs found out
    std::function<void(const std::string& line)> tell = {};  // somebody who wants to know what is left out and why
};

/// Runs every candidate on operands whose result is known (graph/autotuner.h), with guard bands and poisoned memory
/// around them, leaves out those that are wrong, that the driver does not take or that lose the device, and keeps the
/// fastest of the others. A device's advertised features are not trusted beyond that.
///
/// On a CPU nothing is timed: the order of candidates has been measured there. With `implementation` "auto" the first
/// one is taken unseen; of a named implementation the first one is checked once.
///
/// Where a computation is too small for the named implementation, or does not fit its shared memory, another one does
/// it: any if cooperative matrices were asked for, else one without them.
///
/// What is found out is kept in the cache folder, one file per device, driver, subgroup size and version of the
/// kernels. It is written whole or not at all; what cannot be read is measured anew, and what cannot be written is
/// forgotten.
class DeviceAutotuner : public Autotuner {
public:
    /// Throws InputError if the device cannot do it by the implementation that is asked for.
    DeviceAutotuner(Device& device, AutotunerOptions options);

    /// Throws Error if no candidate computes right, or a candidate loses the device; InputError if the only
    /// implementation that was allowed cannot be used for what the graph computes.
    std::size_t choose(const DeviceTraits& device, const TuningProblem& problem) override;

private:
    /// The candidates that may be used.
    std::vector<std::string> allowed(const DeviceTraits& device, const TuningProblem& problem) const;
    TuningResult measure(const DeviceTraits& device, const TuningProblem& problem,
                         const std::vector<std::string>& candidates);
    void tell(const std::string& line) const;
    void save() const;

    Device& device_;
    AutotunerOptions options_;
    bool measured_ = false;
    TuningCache known_;
};

}  // namespace vkf
