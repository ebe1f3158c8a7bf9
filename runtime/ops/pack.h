// Several tensors swept by one dispatch (shaders/lib/pack.glsl): a model has many parameters too small to start a
// kernel for.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/grid.h"
#include "ops/pairs.h"

namespace vkf {

/// How many workgroups of `grid` sweep a tensor.
inline std::uint64_t pack_groups(const Sweep& grid, Tensor tensor) {
    return (static_cast<std::uint64_t>(tensor.elements()) + grid.per_group - 1) / grid.per_group;
}

/// Equal sweeps over all of the tensors, none reaching into the next, at most `most` on any one of them.
inline Sweep pack_sweep(const DeviceTraits& device, std::span<const Tensor> tensors,
                        std::int64_t most = std::int64_t{1} << 40) {
    std::int64_t total = 0, longest = 0;
    for (const Tensor& tensor : tensors) {
        total += tensor.elements();
        longest = std::max(longest, tensor.elements());
    }
    Sweep grid = sweep(device, total);
    grid.group = std::min(grid.group, 32 * device.subgroup_size);  // as many as shaders/lib/group.glsl adds up
    const std::int64_t least = (longest + most - 1) / most;
    while (grid.per_group < least) grid.per_group *= 2;
    grid.groups = 0;
    for (const Tensor& tensor : tensors) grid.groups += pack_groups(grid, tensor);
    return grid;
}

using Args = std::vector<std::pair<std::string, ArgValue>>;

/// Arguments name0, name1, … for the tensors, the null address for the rest of `capacity`.
inline void pack_tensors(Args& args, const std::string& name, std::span<const Tensor> tensors, std::size_t capacity) {
    for (std::size_t i = 0; i < capacity; ++i)
        args.emplace_back(text(name, i), i < tensors.size() && tensors[i] ? ArgValue{tensors[i]} : ArgValue{});
}

/// Arguments n0, n1, …: the elements of each, 0 for the rest.
inline void pack_counts(Args& args, std::span<const Tensor> tensors, std::size_t capacity) {
    for (std::size_t i = 0; i < capacity; ++i)
        args.emplace_back(text('n', i), i < tensors.size() ? extent(tensors[i].elements()) : 0u);
}

}  // namespace vkf
