// Broadcasting of shapes, as in PyTorch and NumPy: aligned at the end, an extent may be 1 or missing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/tensor.h"

namespace vkf {

/// Shape to which both broadcast. Throws InputError naming both, and the first axis from the end at which they differ.
Shape broadcast_shape(const Shape& a, const Shape& b);

/// True if the operand broadcasts to the result's shape.
bool broadcasts(const Shape& operand, const Shape& result);

/// True if the operand has the result's leading extents and ones after them: one element per so many rows.
bool leads(const Shape& operand, const Shape& result);

/// One axis of a result, and each operand's stride along it in elements: 0 where the operand repeats.
struct BroadcastAxis {
    std::int64_t extent;
    std::vector<std::int64_t> strides;
};

/// Fewest axes that describe reads of dense operands, outermost first, at least one: extents of 1 are left out, and
/// axes that are contiguous in every operand are merged. Strides of the innermost axis are 0 or 1.
std::vector<BroadcastAxis> broadcast_axes(std::span<const Shape> operands, const Shape& result);

/// Index of the element that operand k of the axes has for element i of the result.
std::size_t broadcast_index(std::span<const BroadcastAxis> axes, std::size_t k, std::size_t i);

/// Reads of an operand whose extents other than 1 are one contiguous run: result element i reads (i / div) % mod.
struct BroadcastRun {
    std::int64_t div = 1;
    std::int64_t mod = 1;

    bool operator==(const BroadcastRun&) const = default;
};

/// Reads of the operand as one run; nullopt if it is not one.
std::optional<BroadcastRun> one_run(const Shape& operand, const Shape& result);

}  // namespace vkf
