// Cooperative matrices: small products that the invocations of a subgroup compute together ("tensor cores").
#pragma once

#include <compare>
#include <cstdint>

namespace vkf {

/// What the two factors' elements are; the sums are always fp32.
enum class MatrixElement : std::uint8_t { fp16, bf16 };

constexpr const char* to_string(MatrixElement element) {
    return element == MatrixElement::fp16 ? "fp16" : "bf16";
}

/// [m, k] times [k, n].
struct MatrixShape {
    std::uint32_t m = 0, n = 0, k = 0;
    MatrixElement element = MatrixElement::fp16;

    bool operator==(const MatrixShape&) const = default;
};

/// Workgroups of so many invocations hold larger ones together.
struct GroupMatrices {
    std::uint32_t group = 0;
    MatrixElement element = MatrixElement::fp16;

    auto operator<=>(const GroupMatrices&) const = default;
};

}  // namespace vkf
