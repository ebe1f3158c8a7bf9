// Cases of attention in mixed precision, and how far kernels may be off that round operands to 16 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op_check.h"
#include "ops/attention.h"

namespace vkf::test {

struct MixedCase {
    std::string name;
    std::int64_t batch = 1, queries = 65, keys = 65, width = 16, value_width = width;
    std::int64_t heads = 2, kv_heads = 2;
    std::int64_t padding = 0;
    AttentionOptions options = {};
    double spread = 1.0;
    std::vector<double> query_lengths = {}, key_lengths = {};
    bool values_twice = false;  // their gradient comes another way too, and the kernel adds it
    /// With many, a subgroup has one matrix of rows to feed them all; with one, two below each other.
    std::uint32_t compute_units = 64;

    MaskRow mask(std::int64_t b) const { return options.mask.row(queries, keys, b, query_lengths, key_lengths); }
};

/// With lengths, rows that do not count hold NaN.
OpCase op_case(const MixedCase& c);

/// For check_mixed_kernels().
Arrays limits(const MixedCase& c, const MixedRun& run);

}  // namespace vkf::test
