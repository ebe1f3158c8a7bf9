// Cases of linear attention, for their table and for the test of its definition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/op_case.h"
#include "ops/linear_attention/linear_attention.h"

namespace vkf::checks {

struct LinearCase {
    std::string name;
    FeatureMap features = FeatureMap::elu;
    bool causal = false;
    std::int64_t batch = 1, queries = 9, keys = 9, heads = 2, kv_heads = 2, width = 6, value_width = 6;
    std::vector<double> query_lengths = {}, key_lengths = {};
    std::int64_t padding = 0;  // columns of q, k and v between rows
    bool nan_padding = false;  // rows that do not count are NaN
    double centre = 0.5;       // of q and k; keeps divisors of `relu` and `taylor` away from 0
};

/// Numerators and divisors are sums of products with non-negative weights, so the rounding of a result is at most that
/// of so many terms of size |v|; results are means of values, which may be ten times smaller than the largest.
OpCase op_case(const LinearCase& c);

std::vector<LinearCase> linear_cases();

}  // namespace vkf::checks
