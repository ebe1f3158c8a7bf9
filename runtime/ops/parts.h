// Many tensors swept by one dispatch (shaders/lib/parts.glsl): a model has many parameters too small to start a kernel
// for.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "ops/grid.h"

namespace vkf {

/// Tensors cut into parts, one for each workgroup.
struct Parts {
    std::uint32_t group = 0;                     // invocations per workgroup
    std::vector<std::uint32_t> row, first, end;  // of a part: whose elements [first, end) it is; first is even
    std::vector<std::uint32_t> start, count;     // of a tensor: its first part, and how many it has
    double elements = 0;                         // of all tensors

    std::uint32_t groups() const { return extent(std::ssize(row)); }
    Table table() const { return {{{"row", row}, {"first", first}, {"end", end}}}; }
};

/// Parts of equal size, which bounds how many elements one invocation adds up to 1024, of tensors of so many elements;
/// but no tensor has more than `most` parts. One without elements has none.
inline Parts cut(const DeviceTraits& device, std::span<const std::int64_t> sizes,
                 std::int64_t most = std::numeric_limits<std::uint32_t>::max()) {
    std::int64_t total = 0;
    for (const std::int64_t elements : sizes) total += elements;
    const Sweep grid = sweep(device, total);
    Parts made{.group = std::min(grid.group, 32 * device.subgroup_size)};  // as many as shaders/lib/group.glsl adds up
    made.elements = static_cast<double>(total);
    const std::int64_t step = 2 * std::int64_t{made.group}, usual = std::min<std::int64_t>(grid.per_group, 512 * step);
    for (const std::int64_t elements : sizes) {
        const std::int64_t least = (elements + most - 1) / most;
        const std::int64_t size = (std::max(usual, least) + step - 1) / step * step;
        made.start.push_back(extent(std::ssize(made.row)));
        for (std::int64_t first = 0; first < elements; first += size) {
            made.row.push_back(extent(std::ssize(made.start) - 1));
            made.first.push_back(extent(first));
            made.end.push_back(extent(std::min(elements, first + size)));
        }
        made.count.push_back(extent(std::ssize(made.row)) - made.start.back());
    }
    return made;
}

inline Parts cut(const DeviceTraits& device, std::span<const Tensor> tensors,
                 std::int64_t most = std::numeric_limits<std::uint32_t>::max()) {
    std::vector<std::int64_t> sizes;
    for (const Tensor& tensor : tensors) sizes.push_back(tensor.elements());
    return cut(device, std::span<const std::int64_t>(sizes), most);
}

}  // namespace vkf
