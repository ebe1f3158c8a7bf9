// Cases of attention in mixed precision, and error limits of kernels that round operands to 16 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/kernel_check.h"
#include "checks/op_case.h"
#include "ops/attention/attention.h"

namespace vkf::checks {

struct RoundedAttention {
    std::string name;
    std::int64_t batch = 1, queries = 65, keys = 65, width = 16, value_width = width;
    std::int64_t heads = 2, kv_heads = 2;
    std::int64_t padding = 0;
    AttentionOptions options = {};
    double spread = 1.0;
    std::vector<double> query_lengths = {}, key_lengths = {};
    bool values_twice = false;  // values have a second gradient, which the kernel adds
    /// With many compute units, a subgroup takes one matrix of rows, so that all units have work; with one, it takes
    /// two, one below the other.
    std::uint32_t compute_units = 64;

    MaskRow mask(std::int64_t b) const { return options.mask.row(queries, keys, b, query_lengths, key_lengths); }
};

/// Converts to an op case; rows outside the lengths hold NaN.
OpCase op_case(const RoundedAttention& c);

/// A case with wider values, groups, dropout, a window, lengths and slices.
RoundedAttention wide_values();

/// Cases with few sets of constants: each set makes three kernels, which Mesa's CPU device compiles for many seconds,
/// whereas extents, batches, slices and spreads cost nothing. Masks depend on a tile's positions, widths and layouts on
/// its columns, groups and dropout on its head: each is in a case with as little else as possible, and the last case
/// has them all.
std::vector<RoundedAttention> rounded_attention_list();

/// Largest error of each element.
Arrays bounds_of(const RoundedAttention& c, const BoundedRun& run);

}  // namespace vkf::checks
