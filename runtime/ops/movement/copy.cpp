#include "ops/movement/copy.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/elementwise/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

constexpr std::size_t MAX_AXES = 6;  // as in shaders/movement/copy.comp

/// Axes of the same copy, as few as possible; at least one.
std::vector<CopyAxis> merged(const std::vector<CopyAxis>& axes) {
    std::vector<CopyAxis> kept;
    for (const CopyAxis& axis : axes) {
        if (axis.extent == 1) continue;
        CopyAxis* outer = kept.empty() ? nullptr : &kept.back();
        if (outer && outer->x_stride == axis.x_stride * axis.extent && outer->y_stride == axis.y_stride * axis.extent)
            *outer = {outer->extent * axis.extent, axis.x_stride, axis.y_stride};
        else
            kept.push_back(axis);
    }
    if (kept.empty()) kept.push_back({1, 1, 1});
    return kept;
}

/// True if the innermost axis is contiguous in x and y, and each of its runs can be cut into aligned pairs.
bool in_pairs(const std::vector<CopyAxis>& axes, bool from_x) {
    const CopyAxis& inner = axes.back();
    if (inner.extent % 2 != 0 || inner.y_stride != 1 || (from_x && inner.x_stride != 1)) return false;
    return std::all_of(axes.begin(), axes.end() - 1, [&](const CopyAxis& axis) {
        return axis.y_stride % 2 == 0 && (!from_x || axis.x_stride % 2 == 0);
    });
}

/// Converts axes of elements to axes of pairs.
void halve(std::vector<CopyAxis>& axes) {
    axes.back().extent /= 2;
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
        axes[i].x_stride /= 2;
        axes[i].y_stride /= 2;
    }
}

}  // namespace

std::vector<std::int64_t> strides(Tensor x) {
    std::vector<std::int64_t> stride(x.shape().rank(), 1);
    for (std::size_t axis = stride.size(); axis-- > 1;)
        stride[axis - 1] = axis + 1 == stride.size() ? x.pitch() : stride[axis] * x.shape().extents()[axis];
    return stride;
}

Dispatch strided_copy(const DeviceTraits& device, Tensor x, Tensor y, const std::vector<CopyAxis>& given,
                      std::int64_t y_start) {
    std::vector<CopyAxis> axes = merged(given);
    require(axes.size() <= MAX_AXES, "copies at most ", MAX_AXES, " axes, not ", axes.size());
    const bool pairs = all_even(std::array{x, y}) && y_start % 2 == 0 && in_pairs(axes, static_cast<bool>(x));
    const bool packed = y.format() != Format::f32;
    require(!packed || (pairs && (!x || x.format() == y.format())), "a copy of packed numbers moves whole pairs");
    if (pairs) {
        halve(axes);
        y_start /= 2;
    }
    std::int64_t count = 1;
    for (const CopyAxis& axis : axes) count *= axis.extent;
    const Sweep grid = sweep(device, count);
    Dispatch made{.kernel = "copy",
                  .constants = {{"GROUP", grid.group},
                                {"AXES", checked_u32(std::ssize(axes))},
                                {"ZERO", !x},
                                {"WIDE", pairs && !packed}},
                  .args = {{"x", x ? ArgValue{x} : ArgValue{}},
                           {"y", y},
                           {"count", checked_u32(count)},
                           {"per_group", grid.per_group},
                           {"y_start", checked_u32(y_start)}},
                  .groups = grid.groups,
                  .bytes = (x ? 8.0 : 4.0) * (pairs && !packed ? 2.0 : 1.0) * static_cast<double>(count)};
    for (std::size_t axis = 0; axis < MAX_AXES; ++axis) {
        const CopyAxis used = axis < axes.size() ? axes[axis] : CopyAxis{1, 0, 0};
        if (axis > 0) made.args.emplace_back(text("extent_", axis), checked_u32(used.extent));
        made.args.emplace_back(text("x_stride_", axis), checked_u32(used.x_stride));
        made.args.emplace_back(text("y_stride_", axis), checked_u32(used.y_stride));
    }
    return made;
}

}  // namespace vkf
