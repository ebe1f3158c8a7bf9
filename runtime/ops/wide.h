// For kernels that read and write two neighbouring elements at a time (shaders/lib/wide.glsl, strip_pairs.glsl).
#pragma once

#include <initializer_list>
#include <span>

#include "graph/graph.h"
#include "ops/rows.h"

namespace vkf {

/// Whether all rows start at multiples of 8 bytes. Storage itself always does.
inline bool even(Tensor tensor) {
    return tensor.graph().value(tensor).offset % 2 == 0 && (tensor.rows() <= 1 || tensor.pitch() % 2 == 0);
}

/// The same of an argument; a temporary always does.
inline bool even(const ArgValue& value) {
    const auto* tensor = std::get_if<Tensor>(&value);
    return !tensor || even(*tensor);
}

/// Whether all of them may be read in pairs; those that are absent may.
inline bool all_even(std::span<const Tensor> tensors) {
    for (const Tensor& tensor : tensors)
        if (tensor && !even(tensor)) return false;
    return true;
}

/// Rows shared out to workgroups whose invocations lie along them, a pair of columns each.
struct PairRows : RowSweep {
    std::uint32_t strip;  // pairs an invocation holds at a time: its whole part of the row where that is bearable
    bool wide;
};

/// `count` rows of `width` elements; `tensors` are all that the kernel reads or writes in pairs, some perhaps
/// absent; `most` bounds the number of workgroups (0: no bound).
inline PairRows pair_rows(const DeviceTraits& device, std::int64_t count, std::int64_t width,
                          std::initializer_list<Tensor> tensors, std::int64_t most = 0) {
    const std::int64_t pairs = (width + 1) / 2;
    PairRows made{row_sweep(device, count, pairs, most), 0, width % 2 == 0};
    for (const Tensor& tensor : tensors) made.wide = made.wide && (!tensor || even(tensor));
    made.strip = kept(made.group, pairs, device.cpu ? 64 : 8);
    if (made.strip == 0) made.strip = 8;
    return made;
}

}  // namespace vkf
