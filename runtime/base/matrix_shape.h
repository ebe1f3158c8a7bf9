// Cooperative matrices: small products that the invocations of a subgroup compute together ("tensor cores").
#pragma once

#include <compare>
#include <cstdint>

namespace vkf {

/// Type of the two factors' elements; the sums are always fp32.
enum class MatrixElement : std::uint8_t { fp16, bf16 };

constexpr const char* to_string(MatrixElement element) {
    return element == MatrixElement::fp16 ? "fp16" : "bf16";
}

/// Product of [m, k] and [k, n].
struct MatrixShape {
    std::uint32_t m = 0, n = 0, k = 0;
    MatrixElement element = MatrixElement::fp16;

    bool operator==(const MatrixShape&) const = default;
};

/// Larger matrices that a workgroup of `group` invocations holds together.
struct GroupMatrices {
    std::uint32_t group = 0;
    MatrixElement element = MatrixElement::fp16;

    auto operator<=>(const GroupMatrices&) const = default;
};

}  // namespace vkf
