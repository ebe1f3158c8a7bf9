// Options of `vkformer check`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checks/check_plan.h"

namespace vkf {

class Device;
struct DeviceInfo;

struct CheckOptions {
    bool quick = false;
    double minutes = 0;                   // 0: 5, or 1 with `quick`
    std::vector<std::string> only, skip;  // tables of ops
    std::string pretend;                  // "gpu", "small-gpu" or empty
    std::string out_dir;                  // for the report and the folders of failures; empty: only for these, if any
    std::string replay;                   // folder of a failure
    bool forget = false;
    std::int64_t try_matrices = -1;  // first kind of matrices to try, in this process; -1: checks
    // Options of --in-process:
    bool in_process = false;
    std::int64_t first = 0, step = 1, most = 0;  // indices of the plan; most = 0: all
    std::int64_t patience = 0;                   // seconds that one check may take; 0: 60, on a CPU 600

    double limit_minutes() const { return minutes > 0 ? minutes : quick ? 1 : 5; }
};

/// Change of a device's info that --pretend asks for: small-gpu has 128 invocations per workgroup and 16 KiB of shared
/// memory, the least that Vulkan allows.
std::function<void(DeviceInfo&)> pretence(const CheckOptions& options);

/// Traits for lowering: those of the device, as a GPU's if --pretend asks for it.
checks::CheckTraits check_traits(const Device& device, const CheckOptions& options);

}  // namespace vkf
