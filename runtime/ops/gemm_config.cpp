#include "ops/gemm_config.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "ops/unrolled_matmul.h"

namespace vkf {

namespace {

constexpr std::uint32_t subgroup_step = 4;  // of k, in a subgroup's registers
constexpr std::uint32_t cache_line = 16;    // of a CPU, in words
constexpr std::int64_t streamed = 1 << 19;  // elements of a matrix that comes from memory

std::int64_t up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

std::int64_t tiles_of(const GemmShape& shape, std::int64_t rows, std::int64_t columns) {
    return shape.batches * up(shape.m, rows) * up(shape.n, columns);
}

/// Too few tiles to go round: cuts k, as long as each chunk is worth the extra pass over the result.
void split(KernelConfig& made, const GemmShape& shape, std::int64_t tiles, std::int64_t wanted, std::int64_t step) {
    constexpr std::int64_t shortest = 128;
    made.chunk = shape.k;
    if (tiles >= wanted || shape.k < 2 * shortest) return;
    const std::int64_t splits = std::min(up(wanted, tiles), shape.k / shortest);
    made.chunk = up(up(shape.k, splits), step) * step;
    made.splits = up(shape.k, made.chunk);
}

/// Walking down the rows of a matrix, nearly every step of k is on a page of its own. Cuts k into chunks whose pages
/// the processor's address translation holds, so that the tiles of a chunk find them there one after the other. The
/// partial products stay small beside the operands.
void shorten(KernelConfig& made, const GemmShape& shape, std::int64_t step) {
    constexpr std::int64_t longest = 1024;
    const bool walks_down = shape.transpose_a || !shape.transpose_b;
    if (!walks_down || made.chunk <= longest) return;
    const std::int64_t operands = shape.k * (shape.m + shape.n), partial = shape.m * shape.n;
    const std::int64_t splits = std::min(up(shape.k, longest), operands / (4 * partial));
    if (splits <= made.splits) return;
    made.chunk = up(up(shape.k, splits), step) * step;
    made.splits = up(shape.k, made.chunk);
}

/// Stretches of so many columns that a workgroup has of a row of b: up to three, if b comes from memory, where longer
/// ones are read faster, but as few columns past its edge as can be.
std::uint32_t stretches(const GemmShape& shape, std::uint32_t columns) {
    if (shape.k * shape.n < streamed) return 1;
    const auto width = [&](std::uint32_t count) { return up(shape.n, count * columns) * count; };
    std::uint32_t best = 3;
    for (const std::uint32_t count : {2U, 1U})
        if (width(count) < width(best)) best = count;
    return best;
}

/// Columns of b that a workgroup has in decoding. On a CPU each lane reads cache lines of its own: across columns, or,
/// where b is transposed, down one column; down four where there are as many as a vocabulary has.
std::uint32_t decode_stripe(const DeviceTraits& device, const GemmShape& shape) {
    const std::uint32_t lanes = device.subgroup_size;
    if (!device.cpu) return 4 * lanes;
    if (!shape.transpose_b) return cache_line * lanes * stretches(shape, cache_line * lanes);
    constexpr std::int64_t many = 16384;
    return shape.n >= many ? 4 * lanes : lanes;
}

/// The same by straight-line code, for a CPU that loads vectors so (shaders/lib/uniform_loads.glsl). It must not become
/// so long that compiling takes seconds: b transposed, a workgroup has all of k and some columns; as it is, k is cut,
/// which is worth a pass over the parts only where b comes from memory. Nor is it for small models, where what loading
/// saves is less than what each start spends on longer code.
std::optional<KernelConfig> unrolled_decode(const DeviceTraits& device, const GemmShape& shape) {
    constexpr std::int64_t longest = 6144;  // elements of b that a workgroup has
    constexpr std::int64_t deepest = 64, vectors = 4, sums = 32;
    constexpr std::int64_t least = 100000;  // of b in all
    if (!device.uniform_loads || shape.batches != 1 || shape.packed_factors || shape.k * shape.n < least)
        return std::nullopt;
    const std::int64_t lanes = device.subgroup_size;
    std::int64_t stripe = vectors * lanes, terms = shape.k;
    if (shape.transpose_b) {
        stripe = std::min({lanes, sums / shape.m, std::int64_t{8}});
        while (stripe > 4 && stripe * terms > longest) stripe /= 2;
    } else if (terms > deepest && shape.k * shape.n >= streamed) {
        for (terms = deepest; shape.k % terms != 0;) --terms;
    }
    const std::int64_t groups = up(shape.n, stripe) * (shape.k / terms);
    if (stripe * terms > longest || (!shape.transpose_b && terms > deepest) || terms < lanes) return std::nullopt;
    if (stripe > shape.n || groups >= 1 << 16) return std::nullopt;
    KernelConfig made{"decode",
                      "matmul_decode_unrolled",
                      {{"GROUP", device.subgroup_size},
                       {"ROWS", static_cast<std::uint32_t>(shape.m)},
                       {"STRIPE", static_cast<std::uint32_t>(stripe)},
                       {"TERMS", static_cast<std::uint32_t>(terms)}}};
    made.tiles = up(shape.n, stripe);
    made.chunk = terms;
    made.splits = shape.k / terms;
    return made;
}

/// A few rows against all of b, as in decoding.
KernelConfig decode(const DeviceTraits& device, const GemmShape& shape) {
    if (auto made = unrolled_decode(device, shape)) return std::move(*made);
    const std::uint32_t lanes = device.subgroup_size, stripe = decode_stripe(device, shape);
    KernelConfig made{"decode",
                      "matmul_decode",
                      {{"GROUP", lanes},
                       {"ROWS", static_cast<std::uint32_t>(shape.m)},
                       {"STRIPE", stripe},
                       {"RUN", device.cpu ? cache_line : 2}}};
    made.tiles = tiles_of(shape, shape.m, stripe);
    split(made, shape, made.tiles, std::int64_t{device.compute_units} * 4, 2 * std::int64_t{lanes});
    return made;
}

/// The tile with the least time by a model of one workgroup: per k, each tile row and column costs
/// a load and each element a multiply-add; a tile's part past the matrix's edge costs as much as
/// its inside, and so does an idle unit. The ratio of the two costs is measured on lavapipe
/// (docs/performance.md); shapes are few, for each is a pipeline.
KernelConfig in_subgroup_registers(const DeviceTraits& device, const GemmShape& shape) {
    constexpr double load = 18;  // of one row or column, in multiply-adds
    struct Tile {
        std::uint32_t row_blocks, pairs;
    };
    using Tiles = std::array<Tile, 3>;
    const std::int64_t lanes = device.subgroup_size;
    const Tiles shapes = lanes == 16  ? Tiles{{{4, 1}, {2, 1}, {1, 1}}}
                         : lanes == 8 ? Tiles{{{4, 2}, {2, 2}, {1, 2}}}
                         : lanes < 8  ? Tiles{{{4, 4}, {4, 2}, {1, 2}}}
                                      : Tiles{{{1, 1}, {1, 1}, {1, 1}}};
    Tile best{};
    KernelConfig made{"subgroup", "matmul", {}};
    double least = 0;
    for (const Tile& tile : shapes) {
        const std::int64_t rows = tile.row_blocks * lanes, columns = tile.pairs * 2 * lanes;
        const std::int64_t tiles = tiles_of(shape, rows, columns);
        const double cost = static_cast<double>(up(tiles, device.compute_units)) *
                            (load * static_cast<double>(rows + columns) + static_cast<double>(rows * columns));
        if (made.tiles != 0 && cost >= least) continue;
        least = cost;
        best = tile;
        made.tiles = tiles;
    }
    made.constants = {{"GROUP", device.subgroup_size},
                      {"ROW_BLOCKS", best.row_blocks},
                      {"PAIRS", best.pairs},
                      {"STEP", subgroup_step},
                      {"TAIL", shape.k % subgroup_step != 0 || shape.scales_terms()}};
    return made;
}

KernelConfig in_shared_memory(const DeviceTraits& device, const GemmShape& shape, std::uint32_t tile) {
    const std::uint32_t thread = tile == 128 || device.max_group < 256 ? 8 : 4;
    return {text("tile ", tile),
            "matmul_tile",
            {{"GROUP", (tile / thread) * (tile / thread)},
             {"TILE", tile},
             {"THREAD", thread},
             {"SLICE", tile == 128 ? 8U : 16U}},
            tiles_of(shape, tile, tile)};
}

/// A tile's subgroups form a grid, each with a block of matrices. Shared memory holds a slice of both operands in 16
/// bits and a finished matrix of each subgroup; nothing, if that is more than there is. Twice the invocations where
/// 128 registers would not hold a block and what is fetched of the next slices.
std::optional<KernelConfig> in_matrices(const DeviceTraits& device, const GemmShape& shape, std::uint32_t tile) {
    const MatrixShape& of = *device.matrices;
    constexpr std::uint32_t slice = 32;
    const bool narrow = device.registers <= 128 && device.max_group >= 256;
    const std::uint32_t most = tile == 128 || narrow ? 256 : 128;  // invocations
    std::uint32_t down = 1, across = 1;
    while (2 * down * across * device.subgroup_size <= most) (down <= across ? down : across) *= 2;
    const std::uint32_t shared = 2 * (tile + 8) * (slice + 8) * 2 + down * across * of.m * of.n * 4;
    if (shared > device.shared_bytes) return std::nullopt;
    return KernelConfig{text("coopmat ", tile),
                        of.element == MatrixElement::bf16 ? "matmul_coopmat_bf16" : "matmul_coopmat",
                        {{"GROUP", down * across * device.subgroup_size},
                         {"MATRIX_M", of.m},
                         {"MATRIX_N", of.n},
                         {"MATRIX_K", of.k},
                         {"DOWN", down},
                         {"ACROSS", across},
                         {"ROWS", tile / (down * of.m)},
                         {"COLUMNS", tile / (across * of.n)},
                         {"STEPS", slice / of.k}},
                        tiles_of(shape, tile, tile)};
}

/// A workgroup's matrices; or a subgroup's, which are for tests and small, for Mesa takes long to compile them.
/// Nothing, if the tiles were mostly padding or terms are scaled, which pass through no invocation's hands.
std::optional<KernelConfig> in_group_matrices(const DeviceTraits& device, const GemmShape& shape) {
    const bool of_subgroup = device.workgroup_matrices == device.subgroup_size;
    const std::uint32_t tile = of_subgroup ? 16 : 128, slice = of_subgroup ? 16 : 64;
    if (!device.matrices || device.workgroup_matrices == 0 || std::min(shape.m, shape.n) < tile / 2 ||
        shape.scales_terms())
        return std::nullopt;
    const char* of = of_subgroup ? "_subgroup" : device.matrices->element == MatrixElement::bf16 ? "_bf16" : "";
    return KernelConfig{text("coopmat2 ", tile),
                        text("matmul_coopmat2", of),
                        {{"GROUP", device.workgroup_matrices}, {"TILE_M", tile}, {"TILE_N", tile}, {"SLICE", slice}},
                        tiles_of(shape, tile, tile)};
}

/// Whether matrices are worth their padding. Of fewer than 8 lanes a tile would take more subgroups than it has
/// matrices.
bool suits_matrices(const DeviceTraits& device, const GemmShape& shape) {
    if (!device.matrices || device.subgroup_size < 8) return false;
    return shape.m >= device.matrices->m && shape.n >= device.matrices->n && shape.k >= device.matrices->k;
}

/// Tiles of 128 by 128 take 256 invocations and, of each, more than a hundred registers.
bool suits_large_tiles(const DeviceTraits& device) {
    return device.max_group >= 256 && device.registers > 128;
}

/// Whether tiles of 128 by 128 are done sooner than those of 64 by 64: where they keep every multiprocessor busy, and
/// where a last round of few tiles costs no more than they save. Either has 256 invocations, of which each executes so
/// many instructions for a k, as the compilers of GPUs' drivers have it (docs/drivers.md).
bool prefers_large_tiles(const DeviceTraits& device, const GemmShape& shape) {
    constexpr std::int64_t large = 80, small = 22;
    const std::int64_t tiles = tiles_of(shape, 128, 128);
    const auto rounds = [&](std::int64_t count) { return up(count, device.compute_units); };
    return tiles >= device.compute_units && rounds(tiles) * large <= rounds(tiles_of(shape, 64, 64)) * small;
}

/// How k is cut, for all implementations alike. GPUs cut it where not even small tiles keep every multiprocessor busy.
void cut(KernelConfig& made, const DeviceTraits& device, const GemmShape& shape, std::int64_t subgroup_tiles) {
    made.chunk = shape.k;
    if (device.cpu) {
        split(made, shape, subgroup_tiles, std::int64_t{device.compute_units} * 4, subgroup_step);
        shorten(made, shape, subgroup_step);
    } else {
        constexpr std::int64_t longest_slice = 32;
        split(made, shape, tiles_of(shape, 64, 64), device.compute_units, longest_slice);
    }
}

}  // namespace

bool is_decode(const GemmShape& shape) {
    return shape.m <= 4 && !shape.transpose_a && !shape.packed_y;
}

std::vector<KernelConfig> gemm_configs(const DeviceTraits& device, const GemmShape& shape) {
    std::vector<KernelConfig> list;
    if (is_decode(shape)) {
        list.push_back(decode(device, shape));
        list.back().constants.emplace_back("TRANSPOSE_B", shape.transpose_b);
        return list;
    }
    std::vector<std::uint32_t> tiles{64};
    if (suits_large_tiles(device)) tiles.insert(prefers_large_tiles(device, shape) ? tiles.begin() : tiles.end(), 128);
    if (suits_matrices(device, shape))
        for (const std::uint32_t tile : tiles)
            if (auto made = in_matrices(device, shape, tile)) list.push_back(std::move(*made));
    if (auto made = in_group_matrices(device, shape)) list.push_back(std::move(*made));
    for (const std::uint32_t tile : tiles) list.push_back(in_shared_memory(device, shape, tile));
    // A CPU has neither shared memory nor units for matrices: there they are slower than anything else.
    KernelConfig subgroup = in_subgroup_registers(device, shape);
    const std::int64_t subgroup_tiles = subgroup.tiles;
    if (device.subgroup_size <= 64) list.insert(device.cpu ? list.begin() : list.end(), std::move(subgroup));
    for (KernelConfig& made : list) {
        cut(made, device, shape, subgroup_tiles);
        made.constants.emplace_back("TRANSPOSE_A", shape.transpose_a);
        made.constants.emplace_back("TRANSPOSE_B", shape.transpose_b);
    }
    if (auto made = unrolled_config(device, shape)) list.insert(list.begin(), std::move(*made));
    return list;
}

std::vector<std::string> gemm_kernels() {
    return {"matmul",          "matmul_tile",          "matmul_coopmat",           "matmul_coopmat_bf16",
            "matmul_coopmat2", "matmul_coopmat2_bf16", "matmul_coopmat2_subgroup", "matmul_sum"};
}

}  // namespace vkf
