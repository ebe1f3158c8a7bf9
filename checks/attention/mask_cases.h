// Every mask as a case of a table, for checks of each implementation of attention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checks/op_case.h"
#include "ops/attention/attention.h"
#include "ops/attention/attention_mask.h"

namespace vkf::checks {

struct MaskCase {
    std::string name;
    AttentionMask mask = {};
    std::int64_t batch = 1, queries = 37, keys = 37, width = 6, value_width = 6;
    std::int64_t heads = 2, kv_heads = 2;
    std::vector<double> query_lengths = {}, key_lengths = {};
    float dropout = 0.0f;
    bool nan_padding = false;  // queries, keys and values outside the lengths are NaN
    bool nan_hidden = false;   // keys and values that no query sees are NaN
    bool as_others = false;    // for code after the loop over keys, the mask is like that of another case
};

OpCase op_case(const MaskCase&);
/// Options of a case's op for these operands, the first of which are q, k and v.
AttentionOptions options_of(const MaskCase&, std::span<const Tensor> operands);

/// Cases of all masks. Cases of one geometry share kernels of one width; geometries are few because each takes time to
/// compile.
std::vector<MaskCase> mask_cases();

/// Converts mask cases to a table of op cases.
std::vector<OpCase> op_cases(const std::vector<MaskCase>&);

}  // namespace vkf::checks
