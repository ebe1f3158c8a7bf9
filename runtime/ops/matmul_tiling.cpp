#include "ops/matmul_tiling.h"

#include <algorithm>
#include <array>

namespace vkf {

namespace {

std::int64_t up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

std::int64_t tiles_of(const ProductSize& size, std::int64_t rows, std::int64_t columns) {
    return size.batches * up(size.m, rows) * up(size.n, columns);
}

/// Too few tiles to go round: cuts k, as long as each chunk is worth the extra pass over the result.
void split(Tiling& made, const ProductSize& size, std::int64_t wanted, std::int64_t step) {
    constexpr std::int64_t shortest = 128;
    made.chunk = size.k;
    if (made.tiles >= wanted || size.k < 2 * shortest) return;
    const std::int64_t splits = std::min(up(wanted, made.tiles), size.k / shortest);
    made.chunk = up(up(size.k, splits), step) * step;
    made.splits = up(size.k, made.chunk);
}

/// Walking down the rows of a matrix, nearly every step of k is on a page of its own. Cuts k into chunks whose pages
/// the processor's address translation holds, so that the tiles of a chunk find them there one after the other. The
/// partial products stay small beside the operands.
void shorten(Tiling& made, const ProductSize& size, std::int64_t step) {
    constexpr std::int64_t longest = 1024;
    const bool walks_down = size.transpose_a || !size.transpose_b;
    if (!walks_down || made.chunk <= longest) return;
    const std::int64_t operands = size.k * (size.m + size.n), partial = size.m * size.n;
    const std::int64_t splits = std::min(up(size.k, longest), operands / (4 * partial));
    if (splits <= made.splits) return;
    made.chunk = up(up(size.k, splits), step) * step;
    made.splits = up(size.k, made.chunk);
}

/// Decoding: a few rows against all of b.
Tiling few_rows(const DeviceTraits& device, const ProductSize& size) {
    constexpr std::uint32_t pairs = 2;
    Tiling made{"matmul_rows",
                {{"GROUP", device.subgroup_size}, {"ROWS", static_cast<std::uint32_t>(size.m)}, {"PAIRS", pairs}}};
    made.tiles = tiles_of(size, size.m, pairs * 2 * std::int64_t{device.subgroup_size});
    split(made, size, std::int64_t{device.units} * 4, 2 * std::int64_t{device.subgroup_size});
    return made;
}

/// The tile with the least time by a model of one workgroup: per k, each tile row and column costs
/// a load and each element a multiply-add; a tile's part past the matrix's edge costs as much as
/// its inside, and so does an idle unit. The ratio of the two costs is measured on lavapipe
/// (docs/performance.md); candidates are few, for each is a pipeline.
Tiling in_registers(const DeviceTraits& device, const ProductSize& size) {
    constexpr double load = 18;  // of one row or column, in multiply-adds
    constexpr std::uint32_t step = 4;
    struct Tile {
        std::uint32_t row_blocks, pairs;
    };
    using Tiles = std::array<Tile, 3>;
    const std::int64_t lanes = device.subgroup_size;
    const Tiles candidates = lanes == 16  ? Tiles{{{4, 1}, {2, 1}, {1, 1}}}
                             : lanes == 8 ? Tiles{{{4, 2}, {2, 2}, {1, 2}}}
                             : lanes < 8  ? Tiles{{{4, 4}, {4, 2}, {1, 2}}}
                                          : Tiles{{{1, 1}, {1, 1}, {1, 1}}};
    Tile best{};
    Tiling made;
    double least = 0;
    for (const Tile& tile : candidates) {
        const std::int64_t rows = tile.row_blocks * lanes, columns = tile.pairs * 2 * lanes;
        const std::int64_t tiles = tiles_of(size, rows, columns);
        const double cost = static_cast<double>(up(tiles, device.units)) *
                            (load * static_cast<double>(rows + columns) + static_cast<double>(rows * columns));
        if (made.tiles != 0 && cost >= least) continue;
        least = cost;
        best = tile;
        made.tiles = tiles;
    }
    split(made, size, std::int64_t{device.units} * 4, step);
    shorten(made, size, step);
    made.kernel = "matmul";
    made.constants = {{"GROUP", device.subgroup_size},
                      {"ROW_BLOCKS", best.row_blocks},
                      {"PAIRS", best.pairs},
                      {"STEP", step},
                      {"TAIL", size.k % step != 0}};
    return made;
}

/// GPUs: the large tile if that keeps every multiprocessor busy.
Tiling in_shared_memory(const DeviceTraits& device, const ProductSize& size) {
    const bool large = device.max_group >= 256 && tiles_of(size, 128, 128) >= device.units;
    const std::uint32_t tile = large ? 128 : 64;
    const std::uint32_t thread = large || device.max_group < 256 ? 8 : 4;
    const std::uint32_t slice = large ? 8 : 16;
    Tiling made{"matmul_tile",
                {{"GROUP", (tile / thread) * (tile / thread)},
                 {"TILE_M", tile},
                 {"TILE_N", tile},
                 {"THREAD", thread},
                 {"SLICE", slice}}};
    made.tiles = tiles_of(size, tile, tile);
    split(made, size, device.units, slice);
    return made;
}

/// GPUs with cooperative matrices: a tile's subgroups form a grid, each with a block of matrices. Shared memory holds a
/// slice of both operands in 16 bits and a finished matrix of each subgroup.
Tiling in_matrices(const DeviceTraits& device, const ProductSize& size) {
    const MatrixShape& of = *device.matrices;
    constexpr std::uint32_t slice = 32;
    const auto shared = [&](std::uint32_t tile, std::uint32_t subgroups) {
        return 2 * (tile + 8) * (slice + 8) * 2 + subgroups * of.m * of.n * 4;
    };
    const std::uint32_t most = 256 / device.subgroup_size;
    const bool large =
        device.max_group >= 256 && shared(128, most) <= device.shared_bytes && tiles_of(size, 128, 128) >= device.units;
    const std::uint32_t tile = large ? 128 : 64;
    std::uint32_t down = 1, across = 1;
    while (2 * down * across * device.subgroup_size <= (large ? 256 : 128)) (down <= across ? down : across) *= 2;
    Tiling made{of.element == MatrixElement::bf16 ? "matmul_coopmat_bf16" : "matmul_coopmat",
                {{"GROUP", down * across * device.subgroup_size},
                 {"MATRIX_M", of.m},
                 {"MATRIX_N", of.n},
                 {"MATRIX_K", of.k},
                 {"DOWN", down},
                 {"ACROSS", across},
                 {"ROWS", tile / (down * of.m)},
                 {"COLUMNS", tile / (across * of.n)},
                 {"STEPS", slice / of.k}}};
    made.tiles = tiles_of(size, tile, tile);
    split(made, size, device.units, slice);
    return made;
}

/// Whether matrices are worth their padding. A CPU has no units for them: there they are slower than anything else. Of
/// fewer than 8 lanes a tile would take more subgroups than it has matrices.
bool suits_matrices(const DeviceTraits& device, const ProductSize& size) {
    if (device.cpu || !device.matrices || device.subgroup_size < 8) return false;
    return size.m >= device.matrices->m && size.n >= device.matrices->n && size.k >= device.matrices->k;
}

}  // namespace

bool has_few_rows(const ProductSize& size) {
    return size.m <= 4 && !size.transpose_a && !size.packed_y;
}

Tiling tiling(const DeviceTraits& device, const ProductSize& size) {
    Tiling made = has_few_rows(size)             ? few_rows(device, size)
                  : suits_matrices(device, size) ? in_matrices(device, size)
                  : device.cpu                   ? in_registers(device, size)
                                                 : in_shared_memory(device, size);
    if (made.kernel != "matmul_rows") made.constants.emplace_back("TRANSPOSE_A", size.transpose_a);
    made.constants.emplace_back("TRANSPOSE_B", size.transpose_b);
    return made;
}

}  // namespace vkf
