// How kernels that work row by row share the rows out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph/op.h"

namespace vkf {

/// `groups` workgroups of `group` invocations, each taking `per_group` consecutive rows one after the other.
struct RowSweep {
    std::uint32_t group;
    std::uint32_t per_group;
    std::uint64_t groups;
};

/// Equal shares for groups that are each one workgroup wide; `most` bounds their number (0: no bound).
inline RowSweep row_sweep(const DeviceTraits& device, std::int64_t rows, std::int64_t width, std::int64_t most = 0) {
    const auto divided = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
    std::int64_t per_group = 1;
    if (device.cpu) {  // starting a workgroup costs about as much as a thousand elements
        const std::int64_t wanted = std::int64_t{device.compute_units} * 8;
        per_group = std::max(divided(rows, wanted), divided(2048, std::max<std::int64_t>(width, 1)));
    }
    if (most > 0) per_group = std::max(per_group, divided(rows, most));
    return {row_group(device, width), extent(per_group), static_cast<std::uint64_t>(divided(rows, per_group))};
}

/// Registers in which an invocation holds its part of a row; 0 if those were more than `most`: read it again instead.
inline std::uint32_t kept(std::uint32_t group, std::int64_t width, std::int64_t most) {
    const std::int64_t registers = (width + group - 1) / group;
    return registers <= most ? extent(registers) : 0;
}

/// Pairs of neighbours per invocation and block for shaders/lib/log_sum.glsl.
inline std::uint32_t block(std::uint32_t group, std::int64_t width) {
    return extent(std::clamp<std::int64_t>((width / 2 + group - 1) / group, 1, 8));
}

/// Factors of a kernel's rows, each of so many rows that follow each other; or none.
struct RowScale {
    ArgValue at = {};
    std::int64_t rows = 1;
};

/// `scales` has x's leading extents and ones after them, or is no tensor.
inline RowScale row_scale_of(Tensor scales, Tensor x) {
    return scales ? RowScale{scales, x.rows() / scales.elements()} : RowScale{};
}

/// into[c] = Σ from[r·pitch + c] over `rows` rows of `width` columns, in an order that only the sizes decide. Rows are
/// cut into runs, enough to occupy the device and long enough to be worth a partial sum. With `sums` > 1 so many sums,
/// each over its own share of the rows. Terms are scaled where rows have factors.
void sum_columns(Lowering& to, ArgValue from, std::int64_t rows, std::int64_t width, std::int64_t pitch, ArgValue into,
                 std::int64_t sums = 1, const RowScale& scale = {});

}  // namespace vkf
