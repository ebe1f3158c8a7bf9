#include "ops/matmul/gemm_config.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/integers.h"
#include "ops/cpu/decode_config.h"
#include "ops/cpu/unrolled_matmul.h"

namespace vkf {

namespace {

constexpr std::uint32_t subgroup_step = 4;  // terms of k at a time, in a subgroup's registers
constexpr std::uint32_t matrix_slice = 32;  // terms of k at a time, in shared memory for a subgroup's matrices

std::int64_t tiles_of(const GemmShape& shape, std::int64_t rows, std::int64_t columns) {
    return shape.batches * ceil_div(shape.m, rows) * ceil_div(shape.n, columns);
}

/// Cuts k if there are too few tiles, into chunks that are long enough to pay for the extra pass over the result.
void split(KernelConfig& made, const GemmShape& shape, std::int64_t tiles, std::int64_t wanted, std::int64_t step) {
    constexpr std::int64_t shortest = 128;
    made.chunk = shape.k;
    if (tiles >= wanted || shape.k < 2 * shortest) return;
    const std::int64_t splits = std::min(ceil_div(wanted, tiles), shape.k / shortest);
    made.chunk = ceil_div(ceil_div(shape.k, splits), step) * step;
    made.splits = ceil_div(shape.k, made.chunk);
}

/// Cuts k into chunks whose pages fit into the processor's address translation (TLB), so that consecutive tiles of a
/// chunk find them there: where a kernel walks down a matrix's rows, nearly every step of k is on another page. Partial
/// products stay small compared with the operands.
void split_k_for_tlb(KernelConfig& made, const GemmShape& shape, std::int64_t step) {
    constexpr std::int64_t longest = 1024;
    const bool walks_down = shape.transpose_a || !shape.transpose_b;
    if (!walks_down || made.chunk <= longest) return;
    const std::int64_t operands = shape.k * (shape.m + shape.n), partial = shape.m * shape.n;
    const std::int64_t splits = std::min(ceil_div(shape.k, longest), operands / (4 * partial));
    if (splits <= made.splits) return;
    made.chunk = ceil_div(ceil_div(shape.k, splits), step) * step;
    made.splits = ceil_div(shape.k, made.chunk);
}

/// Configuration for a few rows times b, as in decoding.
KernelConfig decode(const DeviceTraits& device, const GemmShape& shape) {
    if (auto made = unrolled_decode_config(device, shape)) return std::move(*made);
    const std::uint32_t lanes = device.subgroup_size;
    const std::uint32_t stripe = device.cpu ? cpu_decode_stripe(device, shape) : 4 * lanes;
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

/// The kernel "subgroup" with the tile that takes the least time by a model of one workgroup: per k, each row and each
/// column of a tile costs a load and each element a multiply-add; a tile's part past the matrix's edge costs as much as
/// its inside, and so does an idle unit. The ratio of the two costs was measured on lavapipe (docs/lab/kernels.md).
/// There are few shapes, because each is a pipeline of its own.
KernelConfig in_subgroup_registers(const DeviceTraits& device, const GemmShape& shape) {
    constexpr double load = 18;  // cost of one row or column, in multiply-adds
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
        const double cost = static_cast<double>(ceil_div(tiles, device.compute_units)) *
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

/// The kernel "tile". Shared memory holds two slices of both operands: of 16 terms, or of 8 if these do not fit; empty
/// if 8 do not fit either. Slices of 8 terms are too small to be shared by the 256 invocations of a small tile.
std::optional<KernelConfig> in_shared_memory(const DeviceTraits& device, const GemmShape& shape, std::uint32_t tile) {
    const auto room = [&](std::uint32_t slice) { return 2 * 2 * slice * (tile + 4) * 4; };
    const std::uint32_t slice = room(16) <= device.shared_bytes ? 16 : 8;
    if (room(slice) > device.shared_bytes) return std::nullopt;
    const std::uint32_t thread = tile == 128 || device.max_group < 256 || slice == 8 ? 8 : 4;
    return KernelConfig{
        text("tile ", tile),
        "matmul_tile",
        {{"GROUP", (tile / thread) * (tile / thread)}, {"TILE", tile}, {"THREAD", thread}, {"SLICE", slice}},
        tiles_of(shape, tile, tile)};
}

/// The kernel "coopmat". A tile's subgroups form a grid, each with a block of matrices: a tile of 128 by 128 has blocks
/// of 64 by 64 if subgroups have 32 invocations or more. A workgroup has more invocations if 128 registers cannot hold
/// a block and the fetched next slices. Shared memory holds a slice of both operands in 16 bits, and at the end a
/// matrix of sums per subgroup. Slices have 32 terms, or 16 if 32 do not fit; empty if 16 do not fit either.
std::optional<KernelConfig> in_matrices(const DeviceTraits& device, const GemmShape& shape, std::uint32_t tile) {
    const MatrixShape& of = *device.matrices;
    std::uint32_t most = tile == 128 ? std::clamp(4 * device.subgroup_size, 128U, 256U) : 128;  // invocations
    if (device.registers <= 128 && device.max_group >= 256) most = 256;
    std::uint32_t down = 1, across = 1;
    while (2 * down * across * device.subgroup_size <= most) (down <= across ? down : across) *= 2;
    const std::uint32_t group = down * across * device.subgroup_size;
    const auto room = [&](std::uint32_t slice) {
        return std::max(2 * tile * (slice + 8) * 2, down * across * of.m * of.n * 4);
    };
    const std::uint32_t slice = room(matrix_slice) <= device.shared_bytes ? matrix_slice : matrix_slice / 2;
    const std::uint32_t patches = 2 * tile * slice / 16 / group;  // fetched by an invocation per slice
    if (room(slice) > device.shared_bytes || patches == 0) return std::nullopt;
    return KernelConfig{text("coopmat ", tile),
                        of.element == MatrixElement::bf16 ? "matmul_coopmat_bf16" : "matmul_coopmat",
                        {{"GROUP", group},
                         {"MATRIX_M", of.m},
                         {"MATRIX_N", of.n},
                         {"MATRIX_K", of.k},
                         {"DOWN", down},
                         {"ACROSS", across},
                         {"ROWS", tile / (down * of.m)},
                         {"COLUMNS", tile / (across * of.n)},
                         {"STEPS", slice / of.k},
                         {"TURN", !device.transposing_loads}},
                        tiles_of(shape, tile, tile)};
}

/// The kernel "coopmat2": with a workgroup's matrices, or, for tests, with a subgroup's, whose tile is small because
/// Mesa compiles it slowly. Empty if half of a tile or more would be padding, or if terms are scaled, because
/// invocations do not see single operands.
std::optional<KernelConfig> in_group_matrices(const DeviceTraits& device, const GemmShape& shape) {
    if (!device.matrices || device.workgroup_matrices == 0 || shape.scales_terms()) return std::nullopt;
    const bool of_subgroup = device.workgroup_matrices == device.subgroup_size;
    const char* of = of_subgroup ? "_subgroup" : device.matrices->element == MatrixElement::bf16 ? "_bf16" : "";
    const std::uint32_t tile = of_subgroup ? 16 : 128;
    if (2 * shape.m <= tile || 2 * shape.n <= tile) return std::nullopt;
    return KernelConfig{text("coopmat2 ", tile),
                        text("matmul_coopmat2", of),
                        {{"GROUP", device.workgroup_matrices},
                         {"TILE_M", tile},
                         {"TILE_N", tile},
                         {"SLICE", of_subgroup ? 16U : 64U},
                         {"UNROLLED", of_subgroup ? 2U : 4U}},
                        tiles_of(shape, tile, tile)};
}

/// True if cooperative matrices pay despite their padding. With fewer than 8 lanes a tile would have more subgroups
/// than matrices.
bool suits_matrices(const DeviceTraits& device, const GemmShape& shape) {
    if (!device.matrices || device.subgroup_size < 8) return false;
    return shape.m >= device.matrices->m && shape.n >= device.matrices->n && shape.k >= matrix_slice;
}

/// True if tiles of 128 by 128 fit: they take 256 invocations, with more than a hundred registers each.
bool suits_large_tiles(const DeviceTraits& device) {
    return device.max_group >= 256 && device.registers > 128;
}

/// Sets how k is cut. On GPUs it is cut if there are too few tiles to keep every multiprocessor busy: kernels with
/// cooperative matrices count their own tiles, and all fp32 kernels count small tiles, so that they cut alike.
void cut(KernelConfig& made, const DeviceTraits& device, const GemmShape& shape, std::int64_t subgroup_tiles) {
    made.chunk = shape.k;
    if (device.cpu) {
        split(made, shape, subgroup_tiles, std::int64_t{device.compute_units} * 4, subgroup_step);
        split_k_for_tlb(made, shape, subgroup_step);
    } else {
        constexpr std::int64_t longest_slice = 32, longest_of_matrices = 64;
        const bool matrices = made.kernel.starts_with("matmul_coopmat");
        split(made, shape, matrices ? made.tiles : tiles_of(shape, 64, 64), device.compute_units,
              matrices ? longest_of_matrices : longest_slice);
    }
}

/// True if tiles of 128 by 128 finish sooner than those of 64 by 64: if they keep every multiprocessor busy, and a last
/// round of few tiles costs no more than they save. Both have 256 invocations, each of which executes `of_large` or
/// `of_small` instructions per k in the code of GPU drivers' compilers. Writing and reading the parts of a split sum
/// takes as long as `parts` more terms of k (both: docs/drivers.md).
bool sooner(const KernelConfig& large, const KernelConfig& small, const DeviceTraits& device) {
    constexpr std::int64_t of_large = 80, of_small = 22, parts = 256;
    const auto terms = [&](const KernelConfig& config) {
        return ceil_div(config.tiles * config.splits, device.compute_units) *
               (config.chunk + (config.splits > 1 ? parts : 0));
    };
    return large.tiles * large.splits >= device.compute_units && terms(large) * of_large <= terms(small) * of_small;
}

/// Adds a kernel with small tiles and one with large tiles, if the device has them; the faster one first.
void add(std::vector<KernelConfig>& list, const DeviceTraits& device, std::optional<KernelConfig> small,
         std::optional<KernelConfig> large) {
    if (small && large && sooner(*large, *small, device)) std::swap(small, large);
    for (auto* made : {&small, &large})
        if (*made) list.push_back(std::move(**made));
}

}  // namespace

bool is_decode(const GemmShape& shape) {
    return shape.m <= 4 && !shape.transpose_a && !shape.packed_y;
}

std::vector<KernelConfig> gemm_configs(const DeviceTraits& device, const GemmShape& shape) {
    std::vector<KernelConfig> list;
    if (is_decode(shape)) {
        list.push_back(decode(device, shape));
        list.back().most_splits = list.back().splits;
        list.back().constants.emplace_back("TRANSPOSE_B", shape.transpose_b);
        return list;
    }
    KernelConfig subgroup = in_subgroup_registers(device, shape);
    const std::int64_t subgroup_tiles = subgroup.tiles;
    const auto with_cut = [&](std::optional<KernelConfig> made) {
        if (made) cut(*made, device, shape, subgroup_tiles);
        return made;
    };
    const bool large = suits_large_tiles(device);
    if (suits_matrices(device, shape))
        add(list, device, with_cut(in_matrices(device, shape, 64)),
            large ? with_cut(in_matrices(device, shape, 128)) : std::nullopt);
    if (auto made = with_cut(in_group_matrices(device, shape))) list.push_back(std::move(*made));
    add(list, device, with_cut(in_shared_memory(device, shape, 64)),
        large ? with_cut(in_shared_memory(device, shape, 128)) : std::nullopt);
    // A CPU has neither shared memory nor matrix units: kernels that use them are the slowest there.
    if (device.subgroup_size <= 64) list.insert(device.cpu ? list.begin() : list.end(), *with_cut(std::move(subgroup)));
    const std::int64_t most = std::ranges::max(list, {}, &KernelConfig::splits).splits;
    for (KernelConfig& made : list) {
        made.most_splits = most;
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

bool groups_products(const DeviceTraits& device, const KernelConfig& config) {
    return device.cpu && config.splits == 1;
}

}  // namespace vkf
