// Every mask as a case of a table, for each implementation of attention to be checked with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "op_check.h"
#include "ops/attention.h"
#include "ops/attention_mask.h"

namespace vkf::test {

struct MaskCase {
    std::string name;
    AttentionMask mask = {};
    std::int64_t batch = 1, queries = 37, keys = 37, width = 6, value_width = 6;
    std::int64_t heads = 2, kv_heads = 2;
    std::vector<double> query_lengths = {}, key_lengths = {};
    float dropout = 0.0f;
    bool nan_padding = false;  // queries, keys and values that do not count are NaN
    bool as_others = false;  // to what comes after the loop over keys, which sees no more of a mask than another case's
};

OpCase op_case(const MaskCase&);
/// Those that its op is given with these operands: the first are q, k and v.
AttentionOptions options_of(const MaskCase&, std::span<const Tensor> operands);

/// All masks of one geometry have kernels of one width; few geometries, for each takes its time to compile.
std::vector<MaskCase> mask_cases();

/// The same as an op's table.
std::vector<OpCase> op_cases(const std::vector<MaskCase>&);

}  // namespace vkf::test
