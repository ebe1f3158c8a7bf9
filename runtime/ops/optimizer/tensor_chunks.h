// Many tensors swept by one dispatch (shaders/optimizer/tensor_chunks.glsl): a model has many parameters that are too
// small for a kernel each.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "ops/elementwise/policy.h"

namespace vkf {

/// Tensors cut into chunks, one for each workgroup.
struct TensorChunks {
    std::uint32_t group = 0;                     // invocations per workgroup
    std::vector<std::uint32_t> row, first, end;  // per chunk: tensor index, elements [first, end); first is even
    std::vector<std::uint32_t> start, count;     // per tensor: its first chunk and its number of chunks
    double elements = 0;                         // in all tensors

    std::uint32_t groups() const { return checked_u32(std::ssize(row)); }
    Table table() const { return {{{"row", row}, {"first", first}, {"end", end}}}; }
};

/// Cuts tensors of these sizes, in elements, into chunks of equal size. An invocation sums at most 1024 elements of a
/// chunk. A tensor has at most `most` chunks, and none if it has no elements.
inline TensorChunks cut(const DeviceTraits& device, std::span<const std::int64_t> sizes,
                        std::int64_t most = std::numeric_limits<std::uint32_t>::max()) {
    std::int64_t total = 0;
    for (const std::int64_t elements : sizes) total += elements;
    const Sweep grid = sweep(device, total);
    // lib/group.glsl adds up at most 32 subgroups.
    TensorChunks made{.group = std::min(grid.group, 32 * device.subgroup_size)};
    made.elements = static_cast<double>(total);
    const std::int64_t step = 2 * std::int64_t{made.group}, usual = std::min<std::int64_t>(grid.per_group, 512 * step);
    for (const std::int64_t elements : sizes) {
        const std::int64_t least = (elements + most - 1) / most;
        const std::int64_t size = (std::max(usual, least) + step - 1) / step * step;
        made.start.push_back(checked_u32(std::ssize(made.row)));
        for (std::int64_t first = 0; first < elements; first += size) {
            made.row.push_back(checked_u32(std::ssize(made.start) - 1));
            made.first.push_back(checked_u32(first));
            made.end.push_back(checked_u32(std::min(elements, first + size)));
        }
        made.count.push_back(checked_u32(std::ssize(made.row)) - made.start.back());
    }
    return made;
}

inline TensorChunks cut(const DeviceTraits& device, std::span<const Tensor> tensors,
                        std::int64_t most = std::numeric_limits<std::uint32_t>::max()) {
    std::vector<std::int64_t> sizes;
    for (const Tensor& tensor : tensors) sizes.push_back(tensor.elements());
    return cut(device, std::span<const std::int64_t>(sizes), most);
}

}  // namespace vkf
