#include <utility>

#include "checks/attention/rounded_attention.h"
#include "checks/op_tables.h"

namespace vkf::checks {

RoundedAttention wide_values() {
    return {.name = "wider values, grouped, dropout, window, lengths, slices",
            .batch = 4,
            .queries = 50,
            .keys = 70,
            .width = 4,
            .value_width = 14,
            .heads = 4,
            .padding = 2,
            .options = {.dropout = 0.3f, .salt = 5, .mask = {.window_left = 9, .window_right = 3}},
            .query_lengths = {50, 0, 1, 20},
            .key_lengths = {25, 9, 70, 1},
            .compute_units = 1};
}

std::vector<RoundedAttention> rounded_attention_list() {
    const AttentionOptions causal{.mask = {.causal = true}};
    const AttentionOptions both{.mask = {.causal = true, .diagonal = true}};
    const AttentionOptions windows{.mask = {.window_left = 9, .window_right = 4}};
    const AttentionOptions wide{.mask = {.diagonal = true, .window_left = 90, .window_right = 60}};
    const AttentionOptions dropped{.dropout = 0.3f, .salt = 9, .mask = {.causal = true}};
    return {
        {.name = "one query", .batch = 2, .queries = 1, .keys = 19, .width = 8},  // decoding: uses the kernels of fp32
        {.name = "seven", .queries = 7, .keys = 7, .width = 8, .options = causal},
        {.name = "gpt", .batch = 2, .options = causal},
        {.name = "two workgroups", .queries = 129, .keys = 129, .options = causal},
        {.name = "causal, more keys", .queries = 70, .keys = 131, .options = causal},
        {.name = "causal, fewer keys", .queries = 131, .keys = 70, .options = causal},  // the first queries see no key
        {.name = "steep", .options = causal, .spread = 30.0},
        {.name = "vanishing", .options = causal, .spread = 1e-6},
        {.name = "grouped, off the diagonal", .queries = 66, .keys = 80, .width = 8, .heads = 6, .options = both},
        {.name = "aligned slices off the diagonal",
         .batch = 2,
         .queries = 68,
         .keys = 68,
         .width = 8,
         .heads = 6,
         .padding = 4,
         .options = both},
        {.name = "even slices off the diagonal",
         .batch = 2,
         .queries = 68,
         .keys = 68,
         .width = 8,
         .heads = 6,
         .padding = 6,
         .options = both},
        {.name = "vit, wider than a tile", .batch = 2, .width = 72, .heads = 3, .kv_heads = 3},
        {.name = "width 1", .queries = 18, .keys = 21, .width = 1, .heads = 1, .kv_heads = 1, .options = causal},
        {.name = "width 7, odd slices, lengths 0, 1, some, all, too long, negative",
         .batch = 6,
         .queries = 70,
         .keys = 75,
         .width = 7,
         .kv_heads = 1,
         .padding = 3,
         .query_lengths = {0, 1, 33, 70, 400, 5},
         .key_lengths = {5, 1, 40, 75, 75, -3}},
        {.name = "width 129",
         .queries = 18,
         .keys = 21,
         .width = 129,
         .heads = 1,
         .kv_heads = 1},  // too wide: uses the kernels of fp32
        {.name = "window over workgroups", .queries = 150, .keys = 150, .width = 8, .options = windows},
        {.name = "wide window", .queries = 150, .keys = 150, .width = 8, .options = wide},
        {.name = "window, more keys", .queries = 70, .keys = 131, .width = 8, .options = windows},
        {.name = "window, fewer keys", .queries = 131, .keys = 70, .width = 8, .options = windows},
        {.name = "narrower values, used twice, dropout",
         .queries = 40,
         .keys = 70,
         .width = 20,
         .value_width = 6,
         .kv_heads = 1,
         .options = dropped,
         .values_twice = true},
        wide_values(),
    };
}

std::vector<BoundedCase> rounded_attention_cases() {
    std::vector<BoundedCase> list;
    for (const RoundedAttention& c : rounded_attention_list())
        list.push_back({op_case(c), [c](const BoundedRun& run) { return bounds_of(c, run); }});
    return list;
}

}  // namespace vkf::checks
