// One case of attention.
#pragma once

#include <cstdint>
#include <string>

#include "checks/op_case.h"
#include "ops/attention/attention.h"

namespace vkf::checks {

struct AttentionSizes {
    std::int64_t batch, queries, keys, width;
    std::int64_t heads = 2, kv_heads = 2;
    std::int64_t padding = 0;
};

/// Errors are those of the logits, whose rounding is a few 2^-24 of Σ |q k| · scale: with normal inputs about √D of it,
/// and dominated by D terms summed one after the other.
OpCase attention_case(std::string name, AttentionSizes sizes, AttentionOptions options = {}, double spread = 1.0,
                      double ulps = 32);

}  // namespace vkf::checks
