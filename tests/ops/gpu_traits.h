// A GPU that is not at hand: what tests of the choice of kernels say of it, and what they read of a choice.
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

/// The constants of a kernel that are integers or, as 0 and 1, truth values, by name.
template <class Config>
std::map<std::string, std::uint32_t> constants(const Config& of) {
    std::map<std::string, std::uint32_t> values;
    for (const auto& [name, value] : of.constants) {
        if (const auto* number = std::get_if<std::uint32_t>(&value)) values[name] = *number;
        if (const auto* truth = std::get_if<bool>(&value)) values[name] = *truth;
    }
    return values;
}

}  // namespace vkf::test
