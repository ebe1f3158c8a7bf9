// For tests of the choice of kernels: traits of GPUs that are not available, and the constants of a chosen kernel.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "graph/op.h"

namespace vkf::test {

inline DeviceTraits gpu(std::uint32_t subgroup, std::optional<MatrixShape> matrices = {}) {
    DeviceTraits made;
    made.cpu = false;
    made.subgroup_size = subgroup;
    made.compute_units = 64;
    made.shared_bytes = 32768;
    made.matrices = matrices;
    return made;
}

/// Constants of a kernel, by name, that are integers or bools (as 0 and 1).
template <class Config>
std::map<std::string, std::uint32_t> constants(const Config& config) {
    std::map<std::string, std::uint32_t> values;
    for (const auto& [name, value] : config.constants) {
        if (const auto* number = std::get_if<std::uint32_t>(&value)) values[name] = *number;
        if (const auto* truth = std::get_if<bool>(&value)) values[name] = *truth;
    }
    return values;
}

}  // namespace vkf::test
