// Linformer's attention compared with its definition, and with full attention where E = F = I.
#include "ops/linear_attention/linformer.h"

#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "checks/linear_attention/linformer_case.h"
#include "checks/op_tables.h"

namespace vkf::checks {
namespace {

/// Keys or values; with nan_padding, rows that do not count are NaN.
Operand key_rows(const LinformerCase& c, std::int64_t columns) {
    Operand made = padded({c.batch, c.keys, columns}, c.padding);
    for (std::int64_t i = 0; i < c.batch * c.keys * columns && c.nan_padding; ++i) {
        const double length = c.key_lengths.at(as_index(i / (c.keys * columns)));
        const bool counts = static_cast<double>(i / columns % c.keys) < length;
        made.values.push_back(counts ? static_cast<double>(static_cast<float>(std::sin(i))) : std::nan(""));
    }
    return made;
}

}  // namespace

OpCase op_case(const LinformerCase& c) {
    const auto numbers = [](const std::vector<double>& values) {
        Operand made = integers({std::max<std::int64_t>(1, std::ssize(values))}, 0, 1);
        made.values = values;
        return made;
    };
    const Shape matrix = c.by_head ? Shape{c.kv_heads, c.combinations, c.longest} : Shape{c.combinations, c.longest};
    const auto build = [c](Inputs x) {
        AttentionOptions options{.heads = c.heads, .kv_heads = c.kv_heads};
        if (!c.query_lengths.empty()) options.mask.query_lengths = x[5];
        if (!c.key_lengths.empty()) options.mask.key_lengths = x[6];
        return std::vector{linformer_attention(x[0], x[1], x[2], x[3], c.one ? x[3] : x[4], options)};
    };
    Operand f = normal(matrix, 0.4);
    f.differentiate = !c.one;
    return {.name = c.name,
            .operands = {normal({c.batch, c.queries, c.heads * c.width}), key_rows(c, c.kv_heads * c.width),
                         key_rows(c, c.kv_heads * c.value_width), normal(matrix, 0.4), f, numbers(c.query_lengths),
                         numbers(c.key_lengths)},
            .build = build,
            .ulps = 32 + 2 * static_cast<double>(c.keys),
            .gradient_ulps = 128 + 8 * static_cast<double>(c.keys),
            .finite_differences = !c.nan_padding,
            .rounded_terms = true};
}

const std::vector<LinformerCase>& linformer_list() {
    static const std::vector<LinformerCase> list{
        {.name = "one of each",
         .batch = 1,
         .queries = 1,
         .keys = 1,
         .longest = 1,
         .combinations = 1,
         .heads = 1,
         .kv_heads = 1,
         .width = 1,
         .value_width = 1},
        {.name = "shared by heads"},
        {.name = "a matrix per head", .by_head = true},
        {.name = "keys and values share", .one = true},
        {.name = "grouped heads", .heads = 6, .by_head = true},
        {.name = "odd widths", .width = 7, .value_width = 5, .padding = 3},
        {.name = "wide heads", .batch = 1, .heads = 1, .kv_heads = 1, .width = 16, .value_width = 24, .by_head = true},
        {.name = "shorter inputs", .keys = 6, .longest = 9},
        {.name = "shorter inputs, a matrix per head", .keys = 4, .longest = 9, .by_head = true},
        {.name = "more combinations than keys", .keys = 3, .longest = 8, .combinations = 11},
        {.name = "lengths", .batch = 4, .query_lengths = {5, 3, 0, 4}, .key_lengths = {7, 3, 1, 0}},
        {.name = "padding that is no number", .batch = 3, .key_lengths = {7, 3, 1}, .nan_padding = true},
        {.name = "many keys", .batch = 1, .keys = 130, .longest = 140, .combinations = 16, .heads = 1, .kv_heads = 1},
    };
    return list;
}

std::vector<OpCase> linformer_cases() {
    std::vector<OpCase> made;
    for (const LinformerCase& c : linformer_list()) made.push_back(op_case(c));
    return made;
}

}  // namespace vkf::checks
