// Every mask: compares its rule with its ranges on the host, and the kernels with the reference.
#include "ops/attention/attention_mask.h"

#include <algorithm>
#include <cmath>

#include "attention_mask_cases.h"
#include "base/error.h"
#include "ops/attention/attention.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

/// Rows of heads, [B, length, columns]; with nan_padding, rows outside `lengths` are NaN.
Operand rows(const MaskCase& c, std::int64_t length, std::int64_t columns, const std::vector<double>& lengths) {
    Operand made = normal({c.batch, length, columns});
    if (!c.nan_padding) return made;
    for (std::int64_t b = 0; b < c.batch; ++b)
        for (std::int64_t i = 0; i < length * columns; ++i) {
            const bool counts = static_cast<double>(i / columns) < lengths.at(static_cast<std::size_t>(b));
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
            .operands = {rows(c, c.queries, c.heads * c.width, c.query_lengths),
                         rows(c, c.keys, c.kv_heads * c.width, c.key_lengths),
                         rows(c, c.keys, c.kv_heads * c.value_width, c.key_lengths), numbers(c.query_lengths),
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
    };
}

std::vector<OpCase> op_cases(const std::vector<MaskCase>& cases) {
    std::vector<OpCase> made;
    for (const MaskCase& c : cases) made.push_back(op_case(c));
    return made;
}

namespace {

VKF_OP_TABLE(AttentionMask, op_cases(mask_cases()));

/// Calls `visit` with every mask of small extents.
template <class Visit>
void each_mask(const Visit& visit) {
    const std::optional<std::int64_t> none;
    for (const bool causal : {false, true})
        for (const bool diagonal : {false, true})
            for (const auto& left : {none, std::optional<std::int64_t>(0), std::optional<std::int64_t>(2)})
                for (const auto& right : {none, std::optional<std::int64_t>(0), std::optional<std::int64_t>(3)})
                    visit(AttentionMask{
                        .causal = causal, .diagonal = diagonal, .window_left = left, .window_right = right});
}

TEST(HostAttentionMaskRow, SeesByTheRule) {
    each_mask([](const AttentionMask& mask) {
        for (const std::int64_t t : {1, 2, 5, 8})
            for (const std::int64_t s : {1, 3, 8})
                for (std::int64_t i = 0; i < t; ++i)
                    for (std::int64_t j = 0; j < s; ++j) {
                        const std::int64_t distance = j - (i + s - t);  // distance of the key from the query's position
                        const bool hidden = (mask.causal && distance > 0) || (mask.diagonal && distance == 0) ||
                                            (mask.window_left && -distance > *mask.window_left) ||
                                            (mask.window_right && distance > *mask.window_right);
                        EXPECT_EQ(mask.row(t, s).visible(i, j), !hidden) << t << ' ' << s << ' ' << i << ' ' << j;
                    }
    });
}

TEST(HostAttentionMaskRow, RangesAreTheFirstAndTheLastVisible) {
    each_mask([](AttentionMask mask) {
        mask.diagonal = false;  // ranges include the diagonal key
        for (const std::int64_t t : {1, 2, 5, 8})
            for (const std::int64_t s : {1, 3, 8}) {
                const MaskRow row = mask.row(10, 10, 1, {9, static_cast<double>(t)}, {9, static_cast<double>(s)});
                double pairs = 0;
                for (std::int64_t i = 0; i < 10; ++i) {
                    const auto [begin, end] = row.keys_of(i);
                    for (std::int64_t j = 0; j < 10; ++j) {
                        EXPECT_EQ(row.visible(i, j), begin <= j && j < end) << t << ' ' << s << ' ' << i << ' ' << j;
                        pairs += row.visible(i, j) ? 1 : 0;
                    }
                }
                EXPECT_EQ(row.pairs(), pairs);
            }
    });
}

TEST(HostAttentionMaskRow, LengthsAreClamped) {
    const AttentionMask mask;
    EXPECT_EQ(mask.row(7, 9, 0, {-2}, {10}).queries, 0);
    EXPECT_EQ(mask.row(7, 9, 0, {-2}, {10}).keys, 9);
    EXPECT_EQ(mask.row(7, 9, 1, {3, 8}, {4, 0}).queries, 7);
    EXPECT_EQ(mask.row(7, 9, 1, {3, 8}, {4}).keys, 4);
    EXPECT_EQ(mask.row(7, 9).pairs(), 63);
}

TEST(HostAttentionMaskShapes, RefusesWhatMakesNoSense) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {3, 5, 8}});
    const Tensor each = graph.input("each", {DType::i32, {3}}), one = graph.input("one", {DType::i32, {1}});
    const Tensor floats = graph.input("floats", {DType::f32, {3}});
    const auto masked = [&](const AttentionMask& mask) { return attention(x, x, x, {.heads = 2, .mask = mask}); };
    EXPECT_NO_THROW(masked({.window_left = 0, .window_right = 0, .query_lengths = each, .key_lengths = one}));
    EXPECT_THROW(masked({.window_left = -1}), InputError);
    EXPECT_THROW(masked({.window_right = -1}), InputError);
    EXPECT_THROW(masked({.query_lengths = one}), InputError);
    EXPECT_THROW(masked({.key_lengths = floats}), InputError);
}

}  // namespace
}  // namespace vkf::test
