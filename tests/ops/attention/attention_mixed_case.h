// Cases of attention in mixed precision, and error limits of kernels that round operands to 16 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op_check.h"
#include "ops/attention/attention.h"

namespace vkf::test {

struct MixedCase {
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
OpCase op_case(const MixedCase& c);

/// Error limits for check_mixed_kernels().
Arrays limits(const MixedCase& c, const RoundedRun& run);

}  // namespace vkf::test
