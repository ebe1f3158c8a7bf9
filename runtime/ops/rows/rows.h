// Sums of columns, and factors of rows, for ops of other families.
#pragma once

#include <cstdint>

#include "graph/op.h"

namespace vkf {

/// Factors of a kernel's rows, each for `rows` consecutive rows; or none.
struct RowScale {
    ArgValue at = {};
    std::int64_t rows = 1;
};

/// Factors of x's rows. `scales` has x's leading extents and ones after them, or is no tensor.
inline RowScale row_scale_of(Tensor scales, Tensor x) {
    return scales ? RowScale{scales, x.rows() / scales.elements()} : RowScale{};
}

/// into[c] = Σ from[r·pitch + c] over `rows` rows of `width` columns, in an order that depends only on the sizes. Rows
/// are cut into runs, enough to occupy the device and long enough to be worth a partial sum. `sums` > 1 makes that many
/// sums, each over an equal share of the rows. Terms are scaled where rows have factors.
void sum_columns(Lowering& lowering, ArgValue from, std::int64_t rows, std::int64_t width, std::int64_t pitch,
                 ArgValue into, std::int64_t sums = 1, const RowScale& scale = {});

}  // namespace vkf
