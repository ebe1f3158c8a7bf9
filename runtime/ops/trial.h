// What trials of kernels have in common: kinds of alike sizes, names of formats and what these round by.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/matrix_shape.h"
#include "graph/tensor.h"

namespace vkf {

/// Sizes up to the next power of two, and up to `least`, are of one kind.
inline std::int64_t rounded_up(std::int64_t extent, std::int64_t least = 16) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(extent, least))));
}

inline const char* name(Format format) {
    return format == Format::f32 ? "f32" : format == Format::bf16 ? "bf16" : "f16";
}

/// By what part of itself a number changes at most when it is kept so, beyond fp32's own rounding.
inline double rounding(Format format) {
    return format == Format::f32 ? 0.0 : format == Format::bf16 ? 0x1p-8 : 0x1p-11;
}
inline double rounding(MatrixElement element) {
    return element == MatrixElement::bf16 ? 0x1p-8 : 0x1p-11;
}

}  // namespace vkf
