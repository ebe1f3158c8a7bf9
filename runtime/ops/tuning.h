// What the tuning problems of all ops have in common: alike sizes, names and rounding of formats, and the kernels.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/matrix_shape.h"
#include "graph/autotuner.h"
#include "graph/reference.h"
#include "graph/tensor.h"
#include "ops/matmul.h"

namespace vkf {

/// The names of all kernels that candidates of any tuning problem run: what is known of them holds for their SPIR-V.
std::vector<std::string> tuned_kernels();

/// Sizes up to the next power of two, and up to `least`, are tuned as one.
inline std::int64_t rounded_up(std::int64_t extent, std::int64_t least = 16) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(extent, least))));
}

/// The same in eight steps from each power of two to the next.
inline std::int64_t nearly(std::int64_t extent, std::int64_t least = 16) {
    const auto at = static_cast<std::uint64_t>(std::max(extent, least));
    const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(at) / 8, 1);
    return static_cast<std::int64_t>((at + step - 1) / step * step);
}

inline const char* name(Format format) {
    return format == Format::f32 ? "f32" : format == Format::bf16 ? "bf16" : "f16";
}

constexpr double fp32_rounding = 0x1p-24;

/// By what part of itself a number changes at most when it is kept so, beyond fp32's own rounding.
inline double rounding(Format format) {
    return format == Format::f32 ? 0.0 : format == Format::bf16 ? 0x1p-8 : 0x1p-11;
}
inline double rounding(MatrixElement element) {
    return element == MatrixElement::bf16 ? 0x1p-8 : 0x1p-11;
}

/// The elements' magnitudes.
Array magnitudes(Array x);
Arrays magnitudes(Arrays arrays);

/// op(a) · op(b) in double, of arrays of one batch or of matrices.
Array product(const Array& a, const Array& b, const MatmulOptions& options = {});

/// The shapes of operands, by their names.
using Shapes = std::map<std::string, Shape>;
Shapes shapes_of(const Arrays& arrays);

/// As a program takes them.
std::vector<float> floats(const Array& x);

}  // namespace vkf
