// Kernels with matrices of a workgroup (coopmat2) under test: by workgroups where the device has them, else by
// subgroups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "graph/chooser.h"
#include "op_check.h"

namespace vkf::test {

/// Chooses them wherever they are offered, and counts that.
class GroupMatricesFirst : public Chooser {
public:
    std::size_t choose(const DeviceTraits&, const Question& question) override {
        const auto at = std::ranges::find_if(question.candidates,
                                             [](const std::string& name) { return name.starts_with("coopmat2"); });
        if (at == question.candidates.end()) return 0;
        ++chosen;
        return static_cast<std::size_t>(at - question.candidates.begin());
    }

    int chosen = 0;
};

}  // namespace vkf::test
