// How a matrix product is cut into tiles and its k axis into chunks, for kernel matmul.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "graph/op.h"

namespace vkf {

struct ProductSize {
    std::int64_t batches, m, n, k;
};

/// A tile is row_blocks · subgroup rows by pairs · 2 · subgroup columns; chunks of k go to different workgroups.
struct Tiling {
    std::uint32_t row_blocks, pairs;
    std::int64_t tiles;  // of all batches
    std::int64_t splits = 1, chunk = 0;
};

/// The tile with the least time by a model of one workgroup: per k, each tile row and column costs a load and each
/// element a multiply-add; a tile's edge past the matrix costs as much as its inside, and so does an idle unit.
/// The ratio of the two costs is measured on lavapipe (docs/performance.md); candidates are few, since each is a pipeline.
inline Tiling tiling(const DeviceTraits& device, const ProductSize& size, std::int64_t step) {
    const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    constexpr double load = 18;  // of one row or column, in multiply-adds
    const std::int64_t lanes = device.subgroup_size;
    using Candidate = std::array<std::uint32_t, 2>;
    const Candidate wide = {1, 1};
    const std::array<Candidate, 3> narrow = {lanes == 16  ? std::array<Candidate, 3>{{{4, 1}, {2, 1}, {1, 1}}}
                                             : lanes == 8 ? std::array<Candidate, 3>{{{4, 2}, {2, 2}, {1, 2}}}
                                                          : std::array<Candidate, 3>{{{4, 4}, {4, 2}, {1, 2}}}};
    Tiling best{};
    double least = 0;
    for (const Candidate& tile : narrow) {
        const auto [row_blocks, pairs] = lanes > 16 ? wide : tile;
        const std::int64_t rows = row_blocks * lanes, columns = pairs * 2 * lanes;
        const std::int64_t tiles = size.batches * up(size.m, rows) * up(size.n, columns);
        const double cost = static_cast<double>(up(tiles, device.units)) *
                            (load * static_cast<double>(rows + columns) + static_cast<double>(rows * columns));
        if (best.tiles != 0 && cost >= least) continue;
        least = cost;
        best = {row_blocks, pairs, tiles};
    }
    // Too few tiles to go round: cut k, as long as each chunk is worth the extra pass over the result.
    constexpr std::int64_t shortest = 128;
    const std::int64_t wanted = std::int64_t{device.units} * 4;
    best.chunk = size.k;
    if (best.tiles < wanted && size.k >= 2 * shortest) {
        best.splits = std::min(up(wanted, best.tiles), size.k / shortest);
        best.chunk = up(up(size.k, best.splits), step) * step;
        best.splits = up(size.k, best.chunk);
    }
    return best;
}

}  // namespace vkf
