// Every mask: compares the kernels with the reference.
#include "ops/attention/attention_mask.h"

#include <algorithm>
#include <cmath>

#include "checks/attention/mask_cases.h"
#include "checks/op_tables.h"
#include "ops/attention/attention.h"

namespace vkf::checks {
namespace {

/// True if some query sees key j of batch row b.
bool is_seen(const MaskCase& c, std::int64_t b, std::int64_t j) {
    const MaskRow row = c.mask.row(c.queries, c.keys, b, c.query_lengths, c.key_lengths);
    bool seen = false;
    for (std::int64_t i = 0; i < c.queries; ++i) seen = seen || row.visible(i, j);
    return seen;
}

/// Rows of heads, [B, length, columns]; with nan_padding, rows outside `lengths` are NaN, with nan_hidden all keys that
/// no query sees.
Operand rows(const MaskCase& c, std::int64_t length, std::int64_t columns, const std::vector<double>& lengths,
             bool of_keys) {
    Operand made = normal({c.batch, length, columns});
    if (!c.nan_padding && !(c.nan_hidden && of_keys)) return made;
    for (std::int64_t b = 0; b < c.batch; ++b)
        for (std::int64_t i = 0; i < length * columns; ++i) {
            const bool counts = c.nan_padding
                                    ? static_cast<double>(i / columns) < lengths.at(static_cast<std::size_t>(b))
                                    : is_seen(c, b, i / columns);
            made.values.push_back(counts ? static_cast<double>(static_cast<float>(std::sin(i + b))) : std::nan(""));
        }
    return made;
}

}  // namespace

AttentionOptions options_of(const MaskCase& c, Inputs x) {
    AttentionOptions options{.heads = c.heads, .kv_heads = c.kv_heads, .dropout = c.dropout, .salt = 5, .mask = c.mask};
    if (!c.query_lengths.empty()) options.mask.query_lengths = x[3];
    if (!c.key_lengths.empty()) options.mask.key_lengths = x[4];
    if (c.dropout > 0) options.seed = x[5];
    return options;
}

OpCase op_case(const MaskCase& c) {
    const auto numbers = [&](const std::vector<double>& values) {
        Operand made = integers({std::max<std::int64_t>(1, std::ssize(values))}, 0, 1);
        made.values = values;
        return made;
    };
    const auto build = [c](Inputs x) { return std::vector{attention(x[0], x[1], x[2], options_of(c, x))}; };
    return {.name = c.name,
            .operands = {rows(c, c.queries, c.heads * c.width, c.query_lengths, false),
                         rows(c, c.keys, c.kv_heads * c.width, c.key_lengths, true),
                         rows(c, c.keys, c.kv_heads * c.value_width, c.key_lengths, true), numbers(c.query_lengths),
                         numbers(c.key_lengths), integers({2}, -1000, 1000)},
            .build = build,
            .ulps = 32,
            .gradient_ulps = 128,
            .finite_differences = c.batch * c.queries * c.keys <= 2000,
            .rounded_terms = true};
}

std::vector<MaskCase> mask_cases() {
    const AttentionMask windows{.window_left = 4, .window_right = 2};
    const AttentionMask left{.causal = true, .window_left = 9};
    const AttentionMask global{.window_left = 4, .window_right = 2, .global_first = 3};
    const AttentionMask big_bird{.window_left = 1,
                                 .window_right = 1,
                                 .block = 3,
                                 .global_first = 1,
                                 .global_last = 1,
                                 .random_blocks = 2,
                                 .random_seed = 7};
    const AttentionMask big_birds{
        .window_left = 1, .window_right = 1, .block = 16, .global_first = 1, .global_last = 1, .random_blocks = 3};
    const AttentionMask causal_birds{
        .causal = true, .window_left = 1, .block = 8, .global_first = 1, .random_blocks = 3};
    return {
        {.name = "window left", .mask = {.window_left = 5}, .as_others = true},
        {.name = "window right", .mask = {.window_right = 3}, .as_others = true},
        {.name = "window", .mask = windows, .as_others = true},
        {.name = "own key only", .mask = {.window_left = 0, .window_right = 0}},
        {.name = "nobody", .mask = {.diagonal = true, .window_left = 0, .window_right = 0}},
        {.name = "window, causal, off the diagonal",
         .mask = {.causal = true, .diagonal = true, .window_left = 4},
         .as_others = true},
        {.name = "window wider than all",
         .mask = {.window_left = 1000, .window_right = std::int64_t{1} << 40},
         .as_others = true},
        {.name = "window over blocks", .mask = left, .queries = 201, .keys = 201},
        {.name = "wide window",
         .mask = {.window_left = 120, .window_right = 70},
         .queries = 201,
         .keys = 201,
         .as_others = true},
        {.name = "blocks beside the diagonal",
         .mask = {.diagonal = true},
         .queries = 130,
         .keys = 137,
         .as_others = true},
        {.name = "lengths between blocks",
         .batch = 2,
         .queries = 130,
         .keys = 150,
         .query_lengths = {130, 70},
         .key_lengths = {75, 143},
         .as_others = true},
        {.name = "window, more keys", .mask = windows, .queries = 30, .keys = 95, .as_others = true},
        {.name = "window, fewer keys", .mask = windows, .queries = 95, .keys = 30},
        {.name = "window of few queries", .mask = left, .queries = 3, .keys = 61},
        {.name = "lengths 0, 1, some, all, too long, negative",
         .batch = 6,
         .queries = 19,
         .keys = 23,
         .query_lengths = {0, 1, 7, 19, 400, 5},
         .key_lengths = {5, 1, 9, 23, 23, -3}},
        {.name = "lengths of keys, causal",
         .mask = {.causal = true},
         .batch = 3,
         .queries = 19,
         .keys = 23,
         .key_lengths = {0, 11, 23},
         .as_others = true},
        {.name = "lengths of queries, causal off the diagonal",
         .mask = {.causal = true, .diagonal = true},
         .batch = 3,
         .queries = 19,
         .keys = 23,
         .query_lengths = {0, 11, 19}},
        {.name = "lengths, window",
         .mask = windows,
         .batch = 3,
         .queries = 19,
         .keys = 23,
         .query_lengths = {4, 11, 19},
         .key_lengths = {9, 2, 20},
         .as_others = true},
        {.name = "lengths of few queries",
         .mask = {.causal = true},
         .batch = 3,
         .queries = 3,
         .keys = 23,
         .query_lengths = {0, 2, 3},
         .key_lengths = {1, 9, 23}},
        {.name = "few queries of shared heads, in pieces",
         .mask = left,
         .batch = 2,
         .queries = 3,
         .keys = 61,
         .width = 7,
         .value_width = 19,
         .heads = 6,
         .kv_heads = 2},
        {.name = "one query of shared heads, in pieces, lengths, dropout",
         .batch = 3,
         .queries = 1,
         .keys = 23,
         .width = 10,
         .value_width = 4,
         .heads = 10,
         .kv_heads = 2,
         .query_lengths = {1, 0, 1},
         .key_lengths = {23, 9, 2},
         .dropout = 0.3f},
        {.name = "few queries of shared heads, lengths, causal, dropout",
         .mask = {.causal = true},
         .batch = 3,
         .queries = 4,
         .keys = 23,
         .heads = 6,
         .kv_heads = 2,
         .query_lengths = {4, 2, 1},
         .key_lengths = {3, 9, 23},
         .dropout = 0.3f},
        {.name = "padding that is no number",
         .batch = 3,
         .queries = 19,
         .keys = 23,
         .query_lengths = {7, 19, 0},
         .key_lengths = {23, 9, 4},
         .nan_padding = true},
        {.name = "one length of keys for two rows", .batch = 2, .queries = 19, .keys = 23, .key_lengths = {11}},
        {.name = "narrower values", .mask = {.causal = true}, .queries = 33, .keys = 41, .width = 10, .value_width = 4},
        {.name = "wider values, grouped, dropout, window, lengths",
         .mask = left,
         .batch = 2,
         .queries = 33,
         .keys = 41,
         .width = 4,
         .value_width = 10,
         .heads = 4,
         .kv_heads = 2,
         .query_lengths = {33, 20},
         .key_lengths = {25, 41},
         .dropout = 0.3f},
        {.name = "wider values of few queries", .queries = 2, .keys = 41, .width = 7, .value_width = 19},
        {.name = "narrower values of few queries", .queries = 2, .keys = 41, .width = 20, .value_width = 6},
        {.name = "dilated", .mask = {.window_left = 9, .dilation = 3}},
        {.name = "dilated, causal, lengths",
         .mask = {.causal = true, .window_left = 9, .dilation = 4},
         .batch = 3,
         .queries = 19,
         .keys = 23,
         .query_lengths = {0, 11, 19},
         .key_lengths = {5, 1, 23},
         .as_others = true},
        {.name = "dilated, fewer keys", .mask = {.dilation = 2}, .queries = 95, .keys = 30, .as_others = true},
        {.name = "global", .mask = global},
        {.name = "global over blocks, causal",
         .mask = {.causal = true, .window_left = 9, .global_first = 2},
         .queries = 201,
         .keys = 201},
        {.name = "global, off the diagonal, dilated",
         .mask = {.diagonal = true,
                  .window_left = 9,
                  .window_right = 9,
                  .dilation = 3,
                  .global_first = 1,
                  .global_last = 2},
         .as_others = true},
        {.name = "global, more keys", .mask = global, .queries = 30, .keys = 95, .as_others = true},
        {.name = "global, fewer keys", .mask = global, .queries = 95, .keys = 30, .as_others = true},
        {.name = "global, causal, fewer keys",
         .mask = {.causal = true, .window_left = 3, .global_first = 3},
         .queries = 95,
         .keys = 30},
        {.name = "global, lengths 0, 1, some, all, too long, negative",
         .mask = global,
         .batch = 6,
         .queries = 19,
         .keys = 23,
         .query_lengths = {0, 1, 7, 19, 400, 5},
         .key_lengths = {5, 1, 9, 23, 23, -3}},
        {.name = "big bird", .mask = big_bird},
        {.name = "big bird over blocks", .mask = big_birds, .queries = 201, .keys = 201},
        {.name = "big bird over blocks, causal", .mask = causal_birds, .queries = 201, .keys = 201},
        {.name = "big bird, more keys", .mask = big_bird, .queries = 30, .keys = 95, .as_others = true},
        {.name = "big bird, fewer keys", .mask = big_bird, .queries = 95, .keys = 30, .as_others = true},
        {.name = "big bird, lengths 0, 1, some, all, too long, negative",
         .mask = big_bird,
         .batch = 6,
         .queries = 37,
         .keys = 37,
         .query_lengths = {0, 1, 17, 37, 400, -3},
         .key_lengths = {0, 1, 17, 37, 400, -3}},
        {.name = "big bird, causal off the diagonal, grouped, dropout, lengths",
         .mask =
             {.causal = true, .diagonal = true, .window_left = 1, .block = 3, .global_first = 1, .random_blocks = 1},
         .batch = 2,
         .queries = 33,
         .keys = 41,
         .width = 4,
         .value_width = 10,
         .heads = 4,
         .kv_heads = 2,
         .query_lengths = {33, 20},
         .key_lengths = {25, 41},
         .dropout = 0.3f},
        {.name = "big bird of few queries, lengths",
         .mask = causal_birds,
         .batch = 3,
         .queries = 3,
         .keys = 150,
         .key_lengths = {149, 70, 2}},
        {.name = "blocks, causal", .mask = {.causal = true, .window_left = 2, .block = 5}, .as_others = true},
        {.name = "random positions",
         .mask = {.window_left = 2, .window_right = 2, .random_blocks = 4, .random_seed = 3},
         .queries = 130,
         .keys = 130,
         .as_others = true},
        {.name = "keys in no listed block are no numbers",
         .mask = {.causal = true, .window_left = 1, .block = 32, .global_first = 1, .random_blocks = 2},
         .queries = 8,
         .keys = 512,
         .nan_hidden = true},
        {.name = "keys in no listed block of few queries are no numbers",
         .mask = {.causal = true, .window_left = 1, .block = 32, .global_first = 1, .random_blocks = 2},
         .queries = 2,
         .keys = 512,
         .nan_hidden = true},
    };
}

std::vector<OpCase> op_cases(const std::vector<MaskCase>& cases) {
    std::vector<OpCase> made;
    for (const MaskCase& c : cases) made.push_back(op_case(c));
    return made;
}

std::vector<OpCase> attention_mask_cases() {
    return op_cases(mask_cases());
}

}  // namespace vkf::checks
