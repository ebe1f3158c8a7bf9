// For kernels that read and write two neighbouring elements at a time (shaders/lib/vector_layout.glsl,
// row_registers.glsl).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <variant>

#include "graph/graph.h"
#include "ops/rows.h"

namespace vkf {

/// How pairs of neighbours lie in a tensor's memory, numbered as in shaders/lib/vector_layout.glsl.
enum class VectorLayout : std::uint32_t { scalar, vec2, bf16x2, f16x2 };

/// Whether all rows start at even elements. Storage itself always starts at a multiple of 256 bytes.
inline bool even(Tensor tensor) {
    return tensor.graph().value(tensor).offset % 2 == 0 && (tensor.rows() <= 1 || tensor.pitch() % 2 == 0);
}

/// Whether they start at multiples of eight, which are 16 bytes of 16-bit elements.
inline bool in_eights(Tensor tensor) {
    return tensor.graph().value(tensor).offset % 8 == 0 && (tensor.rows() <= 1 || tensor.pitch() % 8 == 0);
}

/// Whether an argument's rows start at multiples of `count`, a power of two, at other pitches, any of which `pitches`
/// has the low bits of.
inline bool in_multiples(const ArgValue& value, std::int64_t pitches, std::int64_t count) {
    std::int64_t first = 0;
    const Tensor* tensor = std::get_if<Tensor>(&value);
    if (const auto* section = std::get_if<Section>(&value)) {
        first = section->first;
        tensor = std::get_if<Tensor>(&section->of);
    }
    if (tensor) first += tensor->graph().value(*tensor).offset;
    return (first | pitches) % count == 0;
}

/// Whether an argument's start at even ones; a temporary's always do.
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

/// Of 32-bit numbers.
inline std::uint32_t vector_layout(bool aligned) {
    return static_cast<std::uint32_t>(aligned ? VectorLayout::vec2 : VectorLayout::scalar);
}

/// In that format, if 32-bit pairs are `aligned`.
inline std::uint32_t vector_layout(Format format, bool aligned) {
    if (format == Format::f32) return vector_layout(aligned);
    return static_cast<std::uint32_t>(format == Format::bf16 ? VectorLayout::bf16x2 : VectorLayout::f16x2);
}

/// Of one tensor, whose 32-bit pairs are `aligned`.
inline std::uint32_t vector_layout(Tensor tensor, bool aligned) {
    return vector_layout(tensor ? tensor.format() : Format::f32, aligned);
}

inline std::uint32_t vector_layout(Tensor tensor) {
    return vector_layout(tensor, !tensor || even(tensor));
}

/// Of one whose kernel takes rows that start at odd elements, too.
inline std::uint32_t vector_layout_of_any_rows(Tensor tensor) {
    return vector_layout(tensor, tensor.graph().value(tensor).offset % 2 == 0);
}

/// Of several that lie alike: in one 16-bit format all, or in none.
inline std::uint32_t vector_layout(std::span<const Tensor> tensors) {
    for (const Tensor& tensor : tensors)
        if (tensor && tensor.format() != Format::f32) return vector_layout(tensor);
    return vector_layout(all_even(tensors));
}

/// Rows shared out to workgroups whose invocations lie along them, a pair of columns each.
struct PairRows : RowSweep {
    std::uint32_t strip;  // pairs an invocation holds at a time: its whole part of the row where that is bearable
    bool aligned;         // the width is even

    /// Of these tensors, which lie alike; those that are absent do.
    std::uint32_t form(std::initializer_list<Tensor> tensors) const {
        const std::span list(tensors.begin(), tensors.size());
        return aligned ? vector_layout(list) : vector_layout(false);
    }
};

/// `count` rows of `width` elements; `most` bounds the number of workgroups (0: no bound).
inline PairRows pair_rows(const DeviceTraits& device, std::int64_t count, std::int64_t width, std::int64_t most = 0) {
    const std::int64_t pairs = (width + 1) / 2;
    PairRows made{row_sweep(device, count, pairs, most), 0, width % 2 == 0};
    made.strip = kept(made.group, pairs, device.cpu ? 64 : 8);
    if (made.strip == 0) made.strip = 8;
    return made;
}

/// Rows of `heads` heads shared out to lanes as in shaders/lib/head_rows.glsl.
struct HeadRows {
    std::uint32_t group, lanes, strip, per_group;  // `lanes` to a head, `strip` pairs to a lane at a time
    std::uint64_t groups;
    bool aligned;  // a head's width is even
};

/// On CPU devices a lane has as much of a head as it can keep, so that few sums go across lanes; but all lanes read a
/// head that is all of a long row, from one end to the other. On GPUs neighbouring lanes read neighbouring pairs.
inline HeadRows head_rows(const DeviceTraits& device, std::int64_t rows, std::int64_t heads, std::int64_t width) {
    const auto divided = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
    const std::int64_t pairs = divided(width, 2), subgroup = device.subgroup_size, most = device.cpu ? 32 : 8;
    const std::int64_t room = device.cpu ? subgroup : std::min<std::int64_t>(128, device.max_group);
    std::int64_t lanes = 1;
    const auto wants_more = [&] {
        if (!device.cpu) return 2 * lanes * heads <= room;
        return heads == 1 ? pairs > most : divided(pairs, lanes) > most;
    };
    while (2 * lanes <= std::min(subgroup, pairs) && wants_more()) lanes *= 2;
    const std::int64_t group = std::min(divided(heads * lanes, subgroup) * subgroup, room / subgroup * subgroup);
    const std::int64_t together = group == subgroup ? std::max<std::int64_t>(1, subgroup / (heads * lanes)) : 1;
    const RowSweep share = row_sweep(device, rows, heads * width);
    const std::int64_t per_group = divided(share.per_group, together) * together;
    return {.group = extent(group),
            .lanes = extent(lanes),
            .strip = extent(std::min(divided(pairs, lanes), most)),
            .per_group = extent(per_group),
            .groups = static_cast<std::uint64_t>(divided(rows, per_group)),
            .aligned = width % 2 == 0};
}

}  // namespace vkf
