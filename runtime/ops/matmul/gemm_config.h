// Kernels that can compute a matrix product, with their tiles and the number of chunks into which k is cut.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// Size of a general matrix product, y [batches, m, n] summed over k, and properties of its operands.
struct GemmShape {
    std::int64_t batches, m, n, k;
    bool transpose_a, transpose_b;
    bool packed_y = false;        // y is 16-bit, written in pairs
    bool packed_factors = false;  // a or b is 16-bit
    bool row_scale = false;       // a's rows are multiplied by factors

    /// True if the scaled rows of a are the terms of the sums.
    bool scales_terms() const { return row_scale && transpose_a; }
};

/// True if the decode kernel computes the product: at most 4 rows, a not transposed, and y in fp32, because the kernel
/// writes single numbers.
bool is_decode(const GemmShape& shape);

/// One kernel with its constants and its grid. All kernels that compute in fp32, except the unrolled one, cut k in the
/// same way and give the same bits. Memory is planned for `most_splits` parts, whichever kernel is chosen.
struct KernelConfig {
    std::string name;  // implementation, and tile if it has several: "tile 64", "coopmat 128"
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
    std::int64_t tiles = 0;  // in all batches
    std::int64_t splits = 1;
    std::int64_t most_splits = 1;  // largest `splits` of all candidates
    std::int64_t chunk = 0;  // terms of k per split
};

/// All kernels that can compute the product; the first is the one that a model of the device prefers:
///   unrolled  straight-line code, for CPUs that load vectors by it           shaders/matmul/matmul_unrolled.comp
///   subgroup  a subgroup's registers, no shared memory; made for CPUs        shaders/matmul/matmul.comp
///   tile      shared memory, for all GPUs                                    shaders/matmul/matmul_tile.comp
///   coopmat   a subgroup's cooperative matrices, operands rounded to 16 bits shaders/matmul/matmul_coopmat*.comp
///   coopmat2  a workgroup's matrices; a subgroup's of any extents, in tests  shaders/matmul/matmul_coopmat2*.comp
///   decode    at most 4 rows, reads b once; then the only candidate          shaders/matmul/matmul_decode*.comp
/// coopmat2 also rounds operands to 16 bits, and is not used if row_scale multiplies the terms of the sums.
std::vector<KernelConfig> gemm_configs(const DeviceTraits& device, const GemmShape& shape);

/// Names of the kernels that an autotuner may choose on any device: all except unrolled and decode.
std::vector<std::string> gemm_kernels();

/// True if products of one input share a launch. GPUs overlap independent launches, and must cut k to be busy.
bool groups_products(const DeviceTraits& device, const KernelConfig& config);

}  // namespace vkf
