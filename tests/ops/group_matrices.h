// Tests of kernels with matrices of a workgroup (coopmat2): by workgroups if the device has them, else by subgroups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "graph/autotuner.h"
#include "op_check.h"

namespace vkf::test {

/// Chooses kernels with matrices of a workgroup wherever they are candidates, and counts these choices.
class GroupMatricesFirst : public Autotuner {
public:
    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        const auto at = std::ranges::find_if(problem.candidates,
                                             [](const std::string& name) { return name.starts_with("coopmat2"); });
        if (at == problem.candidates.end()) return 0;
        ++chosen;
        return static_cast<std::size_t>(at - problem.candidates.begin());
    }

    int chosen = 0;
};

}  // namespace vkf::test
