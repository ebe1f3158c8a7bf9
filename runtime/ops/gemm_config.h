// Which kernels compute a matrix product, in what tiles, and into how many chunks the k axis is cut.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// The size of a general matrix product: y [batches, m, n] summed over k, and what is known of the operands.
struct GemmShape {
    std::int64_t batches, m, n, k;
    bool transpose_a, transpose_b;
    bool packed_y = false;        // 16-bit numbers, which leave in pairs
    bool packed_factors = false;  // a or b
    bool row_scale = false;       // a's rows have factors

    /// Whether those are the terms of the sums.
    bool scales_terms() const { return row_scale && transpose_a; }
};

/// Whether the decode kernel computes it (at most 4 rows), which writes y number by number.
bool is_decode(const GemmShape& shape);

/// One kernel with its constants and its grid. All that compute in fp32, but for the unrolled kernel, cut k alike and
/// give the same bits. There is room for the parts of most splits whichever one is chosen: memory is planned the same.
struct KernelConfig {
    std::string name;  // implementation, and tile where there are several: "tile 64", "coopmat2 128x256"
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
    std::int64_t tiles = 0;  // of all batches
    std::int64_t splits = 1;
    std::int64_t most_splits = 1;  // of all candidates
    std::int64_t chunk = 0;  // of k, per split
};

/// Every kernel that can do it, first the one that a model of the device prefers:
///   unrolled  the same by straight-line code, for CPUs that load vectors so  shaders/matmul_unrolled.comp
///   subgroup  a subgroup's registers, no shared memory; made for CPUs        shaders/matmul.comp
///   tile      shared memory, for all GPUs                                    shaders/matmul_tile.comp
///   coopmat   a subgroup's cooperative matrices, operands rounded to 16 bits shaders/matmul_coopmat*.comp
///   coopmat2  a workgroup's likewise; or a subgroup's of any extents, for tests    shaders/matmul_coopmat2*.comp
///   decode    at most 4 rows, where b is read once; then there is no choice  shaders/matmul_decode*.comp
/// coopmat2 does not scale terms.
std::vector<KernelConfig> gemm_configs(const DeviceTraits& device, const GemmShape& shape);

/// The names of the kernels that an autotuner may choose, of any device: of all but unrolled and decode.
std::vector<std::string> gemm_kernels();

}  // namespace vkf
