#include "ops/elementwise/broadcast.h"

#include <algorithm>

#include "base/error.h"

namespace vkf {

namespace {

/// Extent `back` axes from the end, 1 if there is none.
std::int64_t from_end(const Shape& shape, std::size_t back) {
    return back < shape.rank() ? shape.extents()[shape.rank() - 1 - back] : 1;
}

}  // namespace

Shape broadcast_shape(const Shape& a, const Shape& b) {
    const std::size_t rank = std::max(a.rank(), b.rank());
    std::vector<std::int64_t> extents(rank);
    for (std::size_t back = 0; back < rank; ++back) {
        const std::int64_t x = from_end(a, back), y = from_end(b, back);
        require(x == y || x == 1 || y == 1, "cannot broadcast ", a, " and ", b, ": the size of a (", x,
                ") must match the size of b (", y, ") at non-singleton dimension ", rank - 1 - back);
        extents[rank - 1 - back] = x == 1 ? y : x;
    }
    return Shape(std::move(extents));
}

bool broadcasts(const Shape& operand, const Shape& result) {
    if (operand.rank() > result.rank()) return false;
    for (std::size_t back = 0; back < operand.rank(); ++back)
        if (from_end(operand, back) != 1 && from_end(operand, back) != from_end(result, back)) return false;
    return true;
}

bool leads(const Shape& operand, const Shape& result) {
    const std::optional<BroadcastRun> run = one_run(operand, result);
    return run && run->div * run->mod == result.elements() && operand.width() == 1;
}

std::vector<BroadcastAxis> broadcast_axes(std::span<const Shape> operands, const Shape& result) {
    std::vector<BroadcastAxis> axes;                         // innermost first
    std::vector<std::int64_t> elements(operands.size(), 1);  // of the axes so far
    for (std::size_t back = 0; back < result.rank(); ++back) {
        BroadcastAxis axis{from_end(result, back), {}};
        if (axis.extent == 1) continue;
        bool runs_on = !axes.empty();
        for (std::size_t k = 0; k < operands.size(); ++k) {
            const std::int64_t extent = from_end(operands[k], back);
            axis.strides.push_back(extent == 1 ? 0 : elements[k]);
            elements[k] *= extent;
            runs_on = runs_on && axis.strides[k] == axes.back().extent * axes.back().strides[k];
        }
        if (runs_on)
            axes.back().extent *= axis.extent;
        else
            axes.push_back(std::move(axis));
    }
    if (axes.empty()) axes.push_back({1, std::vector<std::int64_t>(operands.size(), 0)});
    std::ranges::reverse(axes);
    return axes;
}

std::size_t broadcast_index(std::span<const BroadcastAxis> axes, std::size_t k, std::size_t i) {
    std::size_t index = 0;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
        const auto extent = static_cast<std::size_t>(axes[axis].extent);
        index += i % extent * static_cast<std::size_t>(axes[axis].strides[k]);
        i /= extent;
    }
    return index;
}

std::optional<BroadcastRun> one_run(const Shape& operand, const Shape& result) {
    if (!broadcasts(operand, result)) return {};
    BroadcastRun made{1, operand.elements()};
    std::size_t back = 0;
    for (; back < operand.rank() && from_end(operand, back) == 1; ++back) made.div *= from_end(result, back);
    while (back < operand.rank() && from_end(operand, back) == from_end(result, back)) ++back;
    for (; back < operand.rank(); ++back)
        if (from_end(operand, back) != 1) return {};
    return made;
}

}  // namespace vkf
