// Cases of Linformer's attention, for their table and for the test of its definition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/op_case.h"
#include "ops/linear_attention/linformer.h"

namespace vkf::checks {

struct LinformerCase {
    std::string name;
    std::int64_t batch = 2, queries = 5, keys = 7, longest = 7, combinations = 3;
    std::int64_t heads = 2, kv_heads = 2, width = 6, value_width = 6;
    bool by_head = false;  // a matrix per key head
    bool one = false;      // F is E
    std::vector<double> query_lengths = {}, key_lengths = {};
    std::int64_t padding = 0;  // columns of k and v between rows
    bool nan_padding = false;  // keys that do not count are NaN
};

/// A combined key is a sum of so many rounded products, whose rounding attention sees in its logits.
OpCase op_case(const LinformerCase& c);

const std::vector<LinformerCase>& linformer_list();

}  // namespace vkf::checks
