// Parts shared by the tuning problems of all ops: rounding of sizes, names and rounding of formats, and the kernels.
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
#include "ops/matmul/matmul.h"

namespace vkf {

/// Names of all kernels that candidates of any tuning problem run. Tuning results are valid for the SPIR-V of these.
std::vector<std::string> tuned_kernels();

/// Next power of two, at least `least`: sizes up to it are tuned as one.
inline std::int64_t rounded_up(std::int64_t extent, std::int64_t least = 16) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(extent, least))));
}

/// Extent rounded up to one of eight steps from each power of two to the next, at least `least`.
inline std::int64_t nearly(std::int64_t extent, std::int64_t least = 16) {
    const auto at = static_cast<std::uint64_t>(std::max(extent, least));
    const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(at) / 8, 1);
    return static_cast<std::int64_t>((at + step - 1) / step * step);
}

inline const char* name(Format format) {
    return format == Format::f32 ? "f32" : format == Format::bf16 ? "bf16" : "f16";
}

constexpr double fp32_rounding = 0x1p-24;

/// Largest relative change of a number that is kept in the format, beyond fp32's own rounding.
inline double rounding(Format format) {
    return format == Format::f32 ? 0.0 : format == Format::bf16 ? 0x1p-8 : 0x1p-11;
}
inline double rounding(MatrixElement element) {
    return element == MatrixElement::bf16 ? 0x1p-8 : 0x1p-11;
}

/// Magnitudes of the elements.
Array magnitudes(Array x);
Arrays magnitudes(Arrays arrays);

/// op(a) · op(b) in double, of arrays of one batch or of matrices.
Array product(const Array& a, const Array& b, const MatmulOptions& options = {});

/// Shapes of operands, by name.
using Shapes = std::map<std::string, Shape>;
Shapes shapes_of(const Arrays& arrays);

/// Elements as a program takes them.
std::vector<float> floats(const Array& x);

}  // namespace vkf
