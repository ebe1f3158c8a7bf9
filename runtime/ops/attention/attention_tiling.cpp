#include "ops/attention/attention_tiling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/integers.h"

namespace vkf {

namespace {

constexpr std::int64_t decoded = 4;  // most queries at once

/// Size from a kernel's side: in each of `batch_heads` heads, `rows` positions of its own, each of which visits
/// `visits` positions of the other side. If heads of keys and values differ in width, head_width is the larger width.
struct Rows {
    std::int64_t batch_heads, rows, visits, head_width, qk_width, value_width;

    Rows(AttentionPass pass, const AttentionSize& size)
        : batch_heads(size.batch_heads),
          rows(size.q_len),
          visits(size.kv_len),
          head_width(std::max(size.head_width, size.value_width)),
          qk_width(size.head_width),
          value_width(size.value_width) {
        if (pass != AttentionPass::key_gradient) return;
        batch_heads /= size.gqa_group;
        std::swap(rows, visits);
    }
};

const char* kernel_suffix(AttentionPass pass) {
    return pass == AttentionPass::forward ? "" : pass == AttentionPass::query_gradient ? "_backward_q" : "_backward_kv";
}

/// Subgroups per workgroup, each with rows of its own.
std::int64_t subgroups_together(const DeviceTraits& device) {
    return device.cpu ? 1 : std::max<std::int64_t>(1, 128 / device.subgroup_size);
}

/// Decoding: lanes are spread along the keys, and a subgroup's rows are those of the heads that read one key head, cut
/// as evenly as possible. Their number depends on nothing else, so that a text alone is generated as in a batch.
AttentionTile for_decoding(const DeviceTraits& device, const AttentionSize& size) {
    constexpr std::int64_t most = 4;
    const std::int64_t subgroups = subgroups_together(device), rows = size.q_len * size.gqa_group;
    const std::int64_t own = ceil_div(rows, ceil_div(rows, most));
    return {"attention_decode",
            {{"GROUP", checked_u32(subgroups * device.subgroup_size)}, {"ROWS", checked_u32(own)}},
            static_cast<std::uint64_t>(ceil_div(size.batch_heads / size.gqa_group * ceil_div(rows, own), subgroups))};
}

/// More rows per lane mean fewer loads per multiply-add, but registers spill, and each unrolled multiply-add costs
/// compile time. The bounds are measured on lavapipe (docs/lab/attention.md). Within them the rows divide the positions
/// as evenly as possible.
AttentionTile in_registers(const DeviceTraits& device, AttentionPass pass, const Rows& size) {
    constexpr std::int64_t unrolled = 512;  // multiply-adds of a product
    const std::int64_t lanes = device.subgroup_size, width = size.head_width;
    std::int64_t block_k = width > 128 || (width >= 64 && pass != AttentionPass::forward) ? 2 : 4;
    if (block_k == 4 && lanes > 4 && 5 * ceil_div(size.visits, 5) < 4 * ceil_div(size.visits, 4)) block_k = 5;
    const std::int64_t registers = width <= 16 ? 80 : width <= 32 ? 48 : 32;  // rows
    const std::int64_t most = std::max<std::int64_t>(1, std::min(unrolled / (block_k * width), registers / lanes));
    const std::int64_t needed = ceil_div(size.rows, lanes), parts = ceil_div(needed, most);
    const std::int64_t subgroups = subgroups_together(device);
    return {text("attention", kernel_suffix(pass)),
            {{"GROUP", checked_u32(subgroups * lanes)},
             {"ROWS_PER_LANE", checked_u32(ceil_div(needed, parts))},
             {"BLOCK_K", checked_u32(block_k)}},
            static_cast<std::uint64_t>(ceil_div(size.batch_heads * parts, subgroups))};
}

/// For all GPUs. A workgroup has in shared memory its own rows, with all columns or a slice of them, a slice of a block
/// of `block_k` other rows, and a tile of weights; in registers its sums, and one or two tiles
/// (attention/attention_tile.glsl).
struct SharedTile {
    const DeviceTraits& device;
    AttentionPass pass;
    Rows size;
    std::int64_t block_k = 4 * std::min(8u, device.subgroup_size);  // lanes that share a row are of one subgroup
    std::int64_t slice =
        std::clamp<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size.head_width)), 8, block_k);
    std::int64_t summed = (pass == AttentionPass::forward ? 0 : size.qk_width) +
                          (pass == AttentionPass::query_gradient ? 0 : size.value_width);  // columns
    /// Rows of a tile per invocation, and about as many of its sums: fewer where these and the words loaded for them
    /// would leave less than an eighth of the registers for the rest.
    std::int64_t height = words(4) > device.registers / 8 * 7 ? 2 : 4;

    std::int64_t words(std::int64_t rows) const {
        constexpr std::int64_t loaded = 64;  // and kept with them by Mesa's compilers
        const std::int64_t tiles = pass == AttentionPass::forward ? 1 : 2;
        return ceil_div(summed * 4 * rows, block_k) + tiles * 4 * rows + loaded;
    }
    std::int64_t group(std::int64_t rows) const { return rows * block_k / (4 * height); }
    std::int64_t groups(std::int64_t rows) const { return size.batch_heads * ceil_div(size.rows, rows); }
    std::int64_t computed(std::int64_t rows) const { return ceil_div(size.rows, rows) * rows; }
    std::int64_t bytes(std::int64_t rows, bool whole) const {
        constexpr std::int64_t word = 16;
        const auto pitch = [](std::int64_t columns) { return ceil_div(columns, 4) | 1; };
        const std::int64_t values = pass == AttentionPass::forward ? 0 : pitch(size.value_width);
        const std::int64_t own = rows * (whole ? pitch(size.qk_width) + values : pitch(slice));
        const std::int64_t weights = rows * pitch(block_k);
        const std::int64_t numbers = 4 * (block_k + (pass == AttentionPass::forward ? rows : 2 * block_k));
        return word * (block_k * pitch(slice) + (whole ? own + weights : std::max(own, weights))) + numbers;
    }
    bool fits(std::int64_t rows, bool whole) const {
        const std::int64_t most = std::min(128u, device.max_group);
        return group(rows) <= most && group(rows) % device.subgroup_size == 0 &&
               bytes(rows, whole) <= device.shared_bytes;
    }
    /// True if the own rows stay in shared memory, where they are read once. But four workgroups must fit 64 KiB; two
    /// where rows have one slice only, because reading that again costs as much as reading the block that it meets.
    bool stay(std::int64_t rows) const {
        return fits(rows, true) && bytes(rows, true) <= (size.head_width > slice ? 16384 : 32768);
    }
};

/// As many rows as fit, because each element read of a block serves all of them; but fewer where that saves a fifth of
/// the computation, or where workgroups are too few to keep the device busy. nullopt if none fit.
std::optional<AttentionTile> in_shared_memory(const DeviceTraits& device, AttentionPass pass, const Rows& size) {
    const SharedTile tile{device, pass, size};
    constexpr std::int64_t least = 16;
    std::int64_t rows = 64;
    while (rows >= least && !tile.fits(rows, false)) rows /= 2;
    if (rows < least) return std::nullopt;
    const auto wasteful = [&] { return 4 * tile.computed(rows) >= 5 * tile.computed(rows / 2); };
    while (rows > least && tile.fits(rows / 2, false) && (wasteful() || tile.groups(rows) < device.compute_units))
        rows /= 2;
    return AttentionTile{text("attention_tile", kernel_suffix(pass)),
                         {{"GROUP", checked_u32(tile.group(rows))},
                          {"ROWS", checked_u32(rows)},
                          {"BLOCK_K", checked_u32(tile.block_k)},
                          {"SLICE", checked_u32(tile.slice)},
                          {"WHOLE", tile.stay(rows)}},
                         static_cast<std::uint64_t>(tile.groups(rows))};
}

/// For GPUs with cooperative matrices. A subgroup keeps its rows as factors of 16 bits, its sums and its part of a tile
/// in registers; shared memory holds a block of rows of two tensors in 16 bits, and each subgroup's own tile in fp32.
struct MatrixTile {
    static constexpr std::int64_t block_k = 32;  // rows visited at a time
    const DeviceTraits& device;
    AttentionPass pass;
    Rows size;
    const MatrixShape& of = *device.matrices;
    std::int64_t qk_width = padded(size.qk_width), value_width = padded(size.value_width);

    std::int64_t padded(std::int64_t width) const {
        return ceil_div(width, std::max(of.n, of.k)) * std::max(of.n, of.k);
    }

    std::int64_t rows(std::int64_t subgroups, std::int64_t stack) const { return subgroups * stack * of.m; }
    std::int64_t groups(std::int64_t subgroups, std::int64_t stack) const {
        return size.batch_heads * ceil_div(size.rows, rows(subgroups, stack));
    }
    bool fits_shared(std::int64_t subgroups, std::int64_t stack) const {
        // A block as it is or transposed, in lines padded by 8 numbers.
        const auto staged = [](std::int64_t width) {
            return 2 * std::max(block_k * (width + 8), width * (block_k + 8));
        };
        const std::int64_t numbers = 3 * block_k * 4;
        const std::int64_t own = rows(subgroups, stack) * (4 * block_k + 16 + 4);
        return staged(qk_width) + staged(value_width) + numbers + own <= device.shared_bytes;
    }
    bool fits_registers(std::int64_t stack) const {
        const std::int64_t most = device.registers / 4 * 3;
        const std::int64_t factors = pass == AttentionPass::forward ? qk_width : qk_width + value_width;
        const std::int64_t sums = pass == AttentionPass::forward          ? value_width
                                  : pass == AttentionPass::query_gradient ? qk_width
                                                                          : qk_width + value_width;
        // In subgroups of 64, RDNA 3 has each factor once for every 16 lanes.
        const std::int64_t copies = device.subgroup_size > 32 ? device.subgroup_size / 16 : 1;
        const std::int64_t row = sums + copies * factors / 2 + 2 * block_k;
        return stack * of.m * row <= most * device.subgroup_size;
    }
};

/// Stacks a second matrix below the first, so that rows from shared memory serve both, if there are registers for both
/// and enough workgroups to keep the device busy.
AttentionTile in_matrices(const DeviceTraits& device, AttentionPass pass, const Rows& size) {
    const MatrixTile tile{device, pass, size};
    const MatrixShape& of = tile.of;
    std::int64_t subgroups = std::max(1u, std::min(128u, device.max_group) / device.subgroup_size);
    while (subgroups > 1 && (!tile.fits_shared(subgroups, 1) || tile.rows(subgroups, 1) >= 2 * size.rows))
        subgroups /= 2;
    const bool two =
        tile.fits_registers(2) && tile.fits_shared(subgroups, 2) && tile.groups(subgroups, 2) >= device.compute_units;
    const std::int64_t stack = two ? 2 : 1;
    return {text("attention_coopmat", kernel_suffix(pass), of.element == MatrixElement::bf16 ? "_bf16" : ""),
            {{"GROUP", checked_u32(subgroups * device.subgroup_size)},
             {"MATRIX_M", of.m},
             {"MATRIX_N", of.n},
             {"MATRIX_K", of.k},
             {"STACK", checked_u32(stack)},
             {"BLOCK_K", checked_u32(MatrixTile::block_k)}},
            static_cast<std::uint64_t>(tile.groups(subgroups, stack))};
}

/// True if matrices are worth their padding, and registers and shared memory suffice for rows of either side: 128
/// registers do not hold the gradients of the narrowest heads. A lane has at least 8 columns of a tile's row.
bool suits_matrices(const DeviceTraits& device, const AttentionSize& size) {
    if (!device.matrices || device.subgroup_size < 8 || device.registers <= 128) return false;
    const MatrixShape& of = *device.matrices;
    return device.subgroup_size <= 4 * of.m && std::min(size.q_len, size.kv_len) >= std::max(of.m, of.n) &&
           std::max(size.head_width, size.value_width) <= 128 &&
           MatrixTile{device, AttentionPass::forward, Rows(AttentionPass::forward, size)}.fits_shared(1, 1);
}

/// Matrices of a workgroup: tiles of pairs, and whole rows. More rows mean fewer loads, fewer rows a shorter causal
/// edge. Matrices of a subgroup, which are for tests, are small: Mesa takes long to compile them, and reduces those of
/// more than 8 rows wrongly.
struct GroupTile {
    std::int64_t rows, block_k, granule;

    std::int64_t padded(std::int64_t width) const { return ceil_div(width, granule) * granule; }
};
constexpr GroupTile of_workgroup[]{{64, 64, 32}, {128, 32, 32}};
constexpr GroupTile of_subgroup[]{{8, 16, 8}};

bool by_subgroups(const DeviceTraits& device) {
    return device.workgroup_matrices == device.subgroup_size;
}

std::span<const GroupTile> group_tiles(const DeviceTraits& device) {
    return by_subgroups(device) ? std::span(of_subgroup) : std::span<const GroupTile>(of_workgroup);
}

std::string name_of(const GroupTile& tile) {
    return text("coopmat2 ", tile.rows);
}

/// True if the matrices are worth their padding.
bool suits(const GroupTile& tile, const DeviceTraits& device, const AttentionSize& size) {
    return device.matrices && std::max(size.head_width, size.value_width) <= 128 &&
           std::min(size.q_len, size.kv_len) >= tile.rows / 2;
}

AttentionTile in_group_matrices(const DeviceTraits& device, const GroupTile& tile, AttentionPass pass,
                                const Rows& size) {
    const char* of = by_subgroups(device)                              ? "_subgroup"
                     : device.matrices->element == MatrixElement::bf16 ? "_bf16"
                                                                       : "";
    return {text("attention_coopmat2", kernel_suffix(pass), of),
            {{"GROUP", device.workgroup_matrices},
             {"ROWS", checked_u32(tile.rows)},
             {"BLOCK_K", checked_u32(tile.block_k)},
             {"WIDTH", checked_u32(tile.padded(size.qk_width))},
             {"WIDTH_V", checked_u32(tile.padded(size.value_width))}},
            static_cast<std::uint64_t>(size.batch_heads * ceil_div(size.rows, tile.rows))};
}

bool suits_shared_memory(const DeviceTraits& device, const AttentionSize& size) {
    constexpr std::array passes{AttentionPass::forward, AttentionPass::query_gradient, AttentionPass::key_gradient};
    const auto fits = [&](AttentionPass pass) { return in_shared_memory(device, pass, Rows(pass, size)).has_value(); };
    return size.q_len > decoded && std::ranges::all_of(passes, fits);
}

}  // namespace

std::vector<std::string> attention_implementations(const DeviceTraits& device, const AttentionSize& size) {
    std::vector<std::string> names;
    if (suits_matrices(device, size)) names.emplace_back("coopmat");
    if (suits_shared_memory(device, size)) names.emplace_back("tile");
    if (device.workgroup_matrices > 0)
        for (const GroupTile& tile : group_tiles(device))
            if (suits(tile, device, size)) names.push_back(name_of(tile));
    names.insert(device.cpu ? names.begin() : names.end(), "subgroup");
    return names;
}

AttentionTile attention_tile(const DeviceTraits& device, std::string_view implementation, AttentionPass pass,
                             const AttentionSize& size) {
    const Rows own(pass, size);
    if (implementation == "coopmat") return in_matrices(device, pass, own);
    if (implementation == "tile") return in_shared_memory(device, pass, own).value();
    for (const GroupTile& tile : group_tiles(device))
        if (implementation == name_of(tile)) return in_group_matrices(device, tile, pass, own);
    if (pass == AttentionPass::forward && size.q_len <= decoded) return for_decoding(device, size);
    return in_registers(device, pass, own);
}

std::int64_t heads_abreast(const DeviceTraits& device, std::uint32_t group, std::int64_t pairs, std::int64_t heads) {
    return device.cpu ? std::clamp<std::int64_t>(group / pairs, 1, heads) : heads;
}

}  // namespace vkf
