// Launch policy of losses: memory and cut of a language model's logits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "graph/op.h"

namespace vkf {

/// Elements between rows of logits: rows begin at pairs; on a GPU at cache lines, where its widest loads may begin.
inline std::int64_t logits_pitch(const DeviceTraits& device, std::int64_t width) {
    const std::int64_t step = device.cpu ? 2 : 64;
    return (width + step - 1) / step * step;
}

/// True if rows of logits end with padding that products may read.
inline bool pads_logits(const DeviceTraits& device) {
    return !device.cpu;
}

/// True if the gradient of logits has memory of its own, in 16 bits: on a GPU whose products round their factors to
/// these, each number is rounded once and moved in half the bytes.
inline bool has_narrow_gradient(const DeviceTraits& device) {
    return !device.cpu && device.matrices;
}

/// Rows of logits in memory at a time: as many as `bytes` hold, in whole tiles of the products if more than one fits.
/// By default, a CPU's chunk fits its caches. A GPU reads and writes all of the table's gradient for each chunk: its
/// chunk keeps it busy many times over, but takes no more than a small part of its memory.
inline std::int64_t logits_chunk(const DeviceTraits& device, std::int64_t rows, std::int64_t pitch,
                                 std::optional<std::int64_t> bytes) {
    constexpr std::int64_t cached = std::int64_t{32} << 20, busy = 8192, share = 16, tile = 64;
    const std::int64_t usual =
        device.cpu ? cached : std::min({busy * 4 * pitch, device.memory_bytes / share, device.buffer_bytes});
    const std::int64_t most = std::max<std::int64_t>(1, bytes.value_or(usual) / (4 * pitch));
    return rows <= most ? rows : most < tile ? most : most / tile * tile;
}

}  // namespace vkf
