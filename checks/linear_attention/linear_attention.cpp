// Linear attention compared with its definition, a double loop over queries and keys, and a step with the whole.
#include "ops/linear_attention/linear_attention.h"

#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "checks/linear_attention/linear_case.h"
#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

/// Rows [B, length, columns]; with nan_padding, those outside `lengths` are NaN and the others fixed.
Operand rows(const LinearCase& c, std::int64_t length, std::int64_t columns, const std::vector<double>& lengths,
             double centre) {
    Operand made = normal({c.batch, length, columns}, 1.0, centre);
    made.padding = c.padding;
    for (std::int64_t i = 0; i < c.batch * length * columns && c.nan_padding; ++i) {
        const std::int64_t b = i / (length * columns), row = i / columns % length;
        const bool counts = static_cast<double>(row) < lengths.at(as_index(b));
        made.values.push_back(counts ? static_cast<double>(static_cast<float>(centre + std::sin(i + b)))
                                     : std::nan(""));
    }
    return made;
}

LinearAttentionOptions options_of(const LinearCase& c, Inputs x) {
    LinearAttentionOptions options{
        .heads = c.heads, .kv_heads = c.kv_heads, .features = c.features, .causal = c.causal};
    if (!c.query_lengths.empty()) options.query_lengths = x[3];
    if (!c.key_lengths.empty()) options.key_lengths = x[4];
    return options;
}

}  // namespace

OpCase op_case(const LinearCase& c) {
    const auto numbers = [](const std::vector<double>& values) {
        Operand made = integers({std::max<std::int64_t>(1, std::ssize(values))}, 0, 1);
        made.values = values;
        return made;
    };
    Operand q = rows(c, c.queries, c.heads * c.width, c.query_lengths, c.centre),
            k = rows(c, c.keys, c.kv_heads * c.width, c.key_lengths, c.centre);
    q.differentiate = k.differentiate = c.keys > 1;  // o is the value of a single key: their gradients are 0
    const double terms = static_cast<double>(c.width + std::min<std::int64_t>(c.keys, 64) + c.keys / 64);
    return {.name = c.name,
            .operands = {q, k, rows(c, c.keys, c.kv_heads * c.value_width, c.key_lengths, 0.0),
                         numbers(c.query_lengths), numbers(c.key_lengths)},
            .build = [c](Inputs x) { return std::vector{linear_attention(x[0], x[1], x[2], options_of(c, x))}; },
            .ulps = 16 + 2 * terms,
            .gradient_ulps = 64 + 8 * terms,
            .finite_differences = c.batch * c.queries * c.keys <= 2000 && !c.nan_padding,
            .rounded_terms = true};
}

std::vector<LinearCase> linear_cases() {
    std::vector<LinearCase> cases{
        {.name = "one of each", .queries = 1, .keys = 1, .heads = 1, .kv_heads = 1, .width = 1, .value_width = 1},
        {.name = "odd widths", .batch = 2, .width = 7, .value_width = 5, .padding = 3},
        {.name = "odd widths, causal", .causal = true, .batch = 2, .width = 7, .value_width = 5, .padding = 3},
        {.name = "wide values", .causal = true, .batch = 2, .width = 4, .value_width = 18, .padding = 2},
        {.name = "wide heads",
         .causal = true,
         .queries = 5,
         .keys = 5,
         .heads = 1,
         .kv_heads = 1,
         .width = 256,
         .value_width = 256},
        {.name = "slices", .causal = true, .batch = 2, .width = 8, .value_width = 8, .padding = 40},
        {.name = "grouped heads", .batch = 2, .queries = 7, .heads = 6, .width = 4},
        {.name = "grouped heads, causal", .causal = true, .batch = 2, .queries = 7, .heads = 6, .width = 4},
        {.name = "one head of keys, causal, chunks",
         .causal = true,
         .queries = 70,
         .keys = 70,
         .heads = 3,
         .kv_heads = 1},
        {.name = "more keys", .queries = 4, .keys = 13},
        {.name = "more keys, causal", .causal = true, .batch = 2, .queries = 4, .keys = 13},
        {.name = "more queries", .queries = 13, .keys = 4},
        {.name = "more queries, causal", .causal = true, .batch = 2, .queries = 13, .keys = 4},
        {.name = "last query of many keys, causal", .causal = true, .queries = 1, .keys = 70},
        {.name = "many queries of one key, causal", .causal = true, .queries = 9, .keys = 1},
        {.name = "queries between chunks, causal", .causal = true, .queries = 30, .keys = 130},
        {.name = "lengths 0, 1, some, all, too long, negative",
         .batch = 6,
         .query_lengths = {0, 1, 7, 9, 400, 5},
         .key_lengths = {5, 1, 4, 9, 9, -3}},
        {.name = "lengths 0, 1, some, all, too long, negative, causal",
         .causal = true,
         .batch = 6,
         .query_lengths = {0, 1, 7, 9, 400, 5},
         .key_lengths = {5, 1, 4, 9, 9, -3}},
        {.name = "lengths between chunks, causal",
         .causal = true,
         .batch = 4,
         .queries = 67,
         .keys = 130,
         .heads = 1,
         .kv_heads = 1,
         .query_lengths = {67, 3, 40, 65},
         .key_lengths = {130, 66, 64, 63}},
        {.name = "one length of keys", .batch = 3, .key_lengths = {5}},
        {.name = "one length of keys, causal", .causal = true, .batch = 3, .key_lengths = {5}},
        {.name = "one query, lengths, causal",
         .causal = true,
         .batch = 3,
         .queries = 1,
         .query_lengths = {1, 0, 1},
         .key_lengths = {9, 4, 0}},
        {.name = "padding that is no number",
         .batch = 3,
         .query_lengths = {7, 9, 0},
         .key_lengths = {9, 5, 4},
         .nan_padding = true},
        {.name = "padding that is no number, causal",
         .causal = true,
         .batch = 3,
         .query_lengths = {7, 9, 0},
         .key_lengths = {9, 5, 4},
         .nan_padding = true},
    };
    for (const auto& [map, word] :
         {std::pair{FeatureMap::elu, "elu"}, {FeatureMap::relu, "relu"}, {FeatureMap::taylor, "taylor"}}) {
        cases.push_back({.name = std::string(word), .features = map, .batch = 2});
        cases.push_back({.name = std::string(word) + ", causal", .features = map, .causal = true, .batch = 2});
        for (const std::int64_t length : {1, 2, 63, 64, 65, 130})
            cases.push_back({.name = std::string(word) + ", causal, length " + std::to_string(length),
                             .features = map,
                             .causal = true,
                             .queries = length,
                             .keys = length,
                             .heads = 1,
                             .kv_heads = 1});
    }
    return cases;
}

std::vector<OpCase> linear_attention_cases() {
    std::vector<OpCase> made;
    for (const LinearCase& c : linear_cases()) made.push_back(op_case(c));
    return made;
}

namespace {

/// A case of one head with these queries and keys, each of two columns. Keys of `taylor` are parallel, so that a
/// divisor can be 0: then the gradients of queries and keys are 0, or rounding.
OpCase with_divisor_zero(std::string name, FeatureMap features, bool causal, std::vector<double> q,
                         std::vector<double> k) {
    LinearCase c{.name = std::move(name), .features = features, .causal = causal};
    c.queries = c.keys = std::ssize(q) / 2;
    c.heads = c.kv_heads = 1;
    c.width = 2;
    OpCase made = op_case(c);
    made.operands[0].values = std::move(q);
    made.operands[1].values = std::move(k);
    for (const std::size_t operand : {0, 1}) made.operands[operand].differentiate = false;
    made.finite_differences = false;
    return made;
}

}  // namespace

/// Rows 0 and 2 have a divisor of 0; row 1 has none, so that the case compares numbers, too.
std::vector<OpCase> linear_attention_divisor_cases() {
    return {
        with_divisor_zero("relu", FeatureMap::relu, false, {-1, -2, 1, 2, -0.5, -3}, {1, 2, 3, 1, 0.5, 2}),
        with_divisor_zero("relu, causal", FeatureMap::relu, true, {-1, -2, 1, 2, -0.5, -3}, {1, 2, 3, 1, 0.5, 2}),
        with_divisor_zero("taylor", FeatureMap::taylor, false, {-1, -2, 1, -2, -0.3f, -0.6f}, {1, 2, 0.5, 1, 7, 14}),
        with_divisor_zero("taylor, causal", FeatureMap::taylor, true, {-1, -2, 1, -2, -0.3f, -0.6f},
                          {1, 2, 0.5, 1, 7, 14}),
    };
}

namespace {

/// Two steps: a prompt of 5 positions, then one of `more`. Lengths are those of both steps' rows.
OpCase two_steps(std::string name, FeatureMap features, std::int64_t more, bool lengths) {
    const std::int64_t batch = 3, heads = 4, kv_heads = 2, width = 6, value_width = 5;
    std::vector<Operand> operands;
    for (const std::int64_t length : {std::int64_t{5}, more}) {
        operands.push_back(normal({batch, length, heads * width}, 1.0, 0.5));
        operands.push_back(normal({batch, length, kv_heads * width}, 1.0, 0.5));
        operands.push_back(normal({batch, length, kv_heads * value_width}));
    }
    for (const std::vector<double>& values : {std::vector<double>{5, 2, 0}, {1, 0, static_cast<double>(more)}}) {
        operands.push_back(integers({batch}, 0, 1));
        operands.back().values = values;
    }
    const auto build = [=](Inputs x) {
        LinearAttentionOptions options{.heads = heads, .kv_heads = kv_heads, .features = features};
        const Tensor none = fill(x[0].graph(), {batch, linear_attention_state(options, width, value_width)}, 0.0f);
        if (lengths) options.key_lengths = x[6];
        const LinearAttentionStep first = linear_attention_step(x[0], x[1], x[2], none, options);
        if (lengths) options.key_lengths = x[7];
        const LinearAttentionStep second = linear_attention_step(x[3], x[4], x[5], first.state, options);
        return std::vector{first.o, second.o, second.state};
    };
    return {.name = std::move(name),
            .operands = std::move(operands),
            .build = build,
            .ulps = 64,
            .gradient_ulps = 256,
            .rounded_terms = true};
}

}  // namespace

std::vector<OpCase> linear_attention_step_cases() {
    return {
        two_steps("one token", FeatureMap::elu, 1, false),
        two_steps("one token, lengths", FeatureMap::elu, 1, true),
        two_steps("some tokens, lengths", FeatureMap::relu, 3, true),
        two_steps("chunks of tokens, lengths", FeatureMap::taylor, 70, true),
    };
}

}  // namespace vkf::checks
