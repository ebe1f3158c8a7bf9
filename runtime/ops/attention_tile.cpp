#include "ops/attention_tile.h"

#include <algorithm>

#include "base/error.h"

namespace vkf {

namespace {

std::int64_t up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

const char* kernel_suffix(AttentionPass pass) {
    return pass == AttentionPass::forward ? "" : pass == AttentionPass::query_gradient ? "_backward_q" : "_backward_kv";
}

/// More rows mean fewer loads per multiply-add, but registers that spill, and each unrolled multiply-add costs compile
/// time: 3 s for the widest heads at these bounds. Within them the rows divide the positions as evenly as they can.
AttentionTile in_registers(const DeviceTraits& device, AttentionPass pass, const AttentionSize& size) {
    const std::int64_t budget = pass == AttentionPass::key_gradient ? 768 : 1024;
    const bool many = device.cpu && device.subgroup_size >= 16 && size.head_width <= 32;
    const std::int64_t most = std::clamp<std::int64_t>(budget / size.head_width, 2, many ? 16 : 8);
    const std::int64_t blocks = up(size.rows, most);
    const std::int64_t subgroups = device.cpu ? 1 : std::max<std::int64_t>(1, 128 / device.subgroup_size);
    return {text("attention", kernel_suffix(pass)),
            {{"GROUP", extent(subgroups * device.subgroup_size)}, {"ROWS", extent(up(size.rows, blocks))}},
            static_cast<std::uint64_t>(up(size.planes * blocks, subgroups))};
}

/// GPUs with cooperative matrices. A subgroup keeps its rows as factors of 16 bits and its sums in registers, beside
/// its part of a tile; shared memory holds a tile of rows of two tensors in 16 bits, and each subgroup's own tile in
/// fp32.
struct MatrixTile {
    static constexpr std::int64_t others = 32;  // rows that its rows meet at a time
    const DeviceTraits& device;
    AttentionPass pass;
    AttentionSize size;
    const MatrixShape& of = *device.matrices;
    std::int64_t width = up(size.head_width, std::max(of.n, of.k)) * std::max(of.n, of.k);

    std::int64_t rows(std::int64_t subgroups, std::int64_t stack) const { return subgroups * stack * of.m; }
    std::int64_t groups(std::int64_t subgroups, std::int64_t stack) const {
        return size.planes * up(size.rows, rows(subgroups, stack));
    }
    bool fits_shared(std::int64_t subgroups, std::int64_t stack) const {
        const std::int64_t staged = 2 * others * (2 * width + 16), numbers = 3 * others * 4;
        return staged + numbers + rows(subgroups, stack) * (4 * others + 16 + 4) <= device.shared_bytes;
    }
    bool fits_registers(std::int64_t stack) const {
        constexpr std::int64_t most = 192;  // words of an invocation
        const std::int64_t factors = pass == AttentionPass::forward ? 1 : 2;
        const std::int64_t sums = pass == AttentionPass::key_gradient ? 2 : 1;
        const std::int64_t row = sums * width + factors * width / 2 + 2 * others;
        return stack * of.m * row <= most * device.subgroup_size;
    }
};

/// With a second matrix below the first, rows from shared memory serve both, as long as there are registers for that
/// and workgroups enough to keep the device busy.
AttentionTile in_matrices(const DeviceTraits& device, AttentionPass pass, const AttentionSize& size) {
    const MatrixTile tile{device, pass, size};
    const MatrixShape& of = tile.of;
    std::int64_t subgroups = std::max(1u, std::min(128u, device.max_group) / device.subgroup_size);
    while (subgroups > 1 && (!tile.fits_shared(subgroups, 1) || tile.rows(subgroups, 1) >= 2 * size.rows))
        subgroups /= 2;
    const bool two =
        tile.fits_registers(2) && tile.fits_shared(subgroups, 2) && tile.groups(subgroups, 2) >= device.units;
    const std::int64_t stack = two ? 2 : 1;
    return {text("attention_coopmat", kernel_suffix(pass), of.element == MatrixElement::bf16 ? "_bf16" : ""),
            {{"GROUP", extent(subgroups * device.subgroup_size)},
             {"MATRIX_M", of.m},
             {"MATRIX_N", of.n},
             {"MATRIX_K", of.k},
             {"STACK", extent(stack)},
             {"TILE", extent(MatrixTile::others)}},
            static_cast<std::uint64_t>(tile.groups(subgroups, stack))};
}

/// Whether matrices are worth their padding, and a row's registers and shared memory are to be had. A CPU has no units
/// for them. Of a tile's row a lane has 8 columns at least.
bool suits_matrices(const DeviceTraits& device, AttentionPass pass, const AttentionSize& size) {
    if (device.cpu || !device.matrices || device.subgroup_size < 8) return false;
    const MatrixShape& of = *device.matrices;
    return device.subgroup_size <= 4 * of.m && size.rows >= of.m && size.others >= of.n && size.head_width <= 128 &&
           MatrixTile{device, pass, size}.fits_shared(1, 1);
}

}  // namespace

AttentionTile attention_tile(const DeviceTraits& device, AttentionPass pass, const AttentionSize& size) {
    return suits_matrices(device, pass, size) ? in_matrices(device, pass, size) : in_registers(device, pass, size);
}

}  // namespace vkf
