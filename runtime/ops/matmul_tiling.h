// Which kernel computes a matrix product, in what tiles, and into how many chunks the k axis is cut.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// y [batches, m, n] summed over k, and what is known of the operands.
struct ProductSize {
    std::int64_t batches, m, n, k;
    bool transpose_a, transpose_b;
    bool packed_y = false;  // 16-bit numbers, which leave in pairs
};

/// Whether a kernel for few rows computes it, which writes y number by number.
bool has_few_rows(const ProductSize& size);

struct Tiling {
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
    std::int64_t tiles = 0;  // of all batches
    std::int64_t splits = 1;
    std::int64_t chunk = 0;  // of k, per split
};

Tiling tiling(const DeviceTraits& device, const ProductSize& size);

}  // namespace vkf
