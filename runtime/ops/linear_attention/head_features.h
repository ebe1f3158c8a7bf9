// Feature maps of linear attention, applied while heads are brought into matrices.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "ops/linear_attention/head_chunks.h"

namespace vkf {

/// Maps φ of a head's row x. Numbered as in shaders/linear_attention/head_maps.glsl.
enum class HeadFeatureMap : std::uint32_t {
    identity,  // x
    with_one,  // [x, 1]
    elu,       // elu(x) + 1: x + 1 for x > 0, else e^x
    relu,      // max(0, x)
    taylor,    // [x / ‖x‖, 1]; x / ‖x‖ is 0 where <x, x> is 0 or subnormal
};

/// Columns of φ(x) for heads of `width` columns: with zeros behind φ's own, a multiple of 8.
std::int64_t feature_columns(HeadFeatureMap map, std::int64_t width);

/// φ of each head's row of x [B, T, H·D], as rows of the chunks' matrices, [B·H/sharing·chunks, sharing·chunk,
/// columns]. Rows of the matrices without a row of x are 0, and rows of x that do not count are not read. Saves x.
/// fp32, rounded once where results are kept in 16 bits.
Tensor head_features(Tensor x, HeadFeatureMap map, const HeadChunks& chunks);

}  // namespace vkf
