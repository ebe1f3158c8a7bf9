// Which shapes broadcast to which, as in PyTorch and NumPy: aligned at the end, an extent may be 1 or lacking.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/tensor.h"

namespace vkf {

/// The shape that both broadcast to. Throws InputError naming both, and the first axis from the end at which they
/// differ.
Shape broadcast_shape(const Shape& a, const Shape& b);

/// Whether an operand repeats up to the result's shape.
bool broadcasts(const Shape& operand, const Shape& result);

/// Whether the operand has the result's leading extents and ones after them: an element for so many rows.
bool leads(const Shape& operand, const Shape& result);

/// One axis of a result, and for each operand the elements between neighbours along it: 0 where the operand repeats.
struct BroadcastAxis {
    std::int64_t extent;
    std::vector<std::int64_t> strides;
};

/// As few axes as tell how dense operands are read, outermost first and at least one: extents of 1 are left out, and
/// axes that run on into each other in every operand are one. Of the innermost the strides are 0 or 1.
std::vector<BroadcastAxis> broadcast_axes(std::span<const Shape> operands, const Shape& result);

/// Where an operand's element is, of a result's i-th: the operand is number `k` of those the axes are of.
std::size_t broadcast_index(std::span<const BroadcastAxis> axes, std::size_t k, std::size_t i);

/// How an operand whose extents that are not 1 are one contiguous run is read at element i: at (i / div) % mod.
struct BroadcastRun {
    std::int64_t div = 1;
    std::int64_t mod = 1;

    bool operator==(const BroadcastRun&) const = default;
};

/// nullopt if it is not one run.
std::optional<BroadcastRun> one_run(const Shape& operand, const Shape& result);

}  // namespace vkf
