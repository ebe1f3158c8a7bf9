// Linear attention compared with its definition, a double loop over queries and keys, and a step with the whole.
#include "ops/linear_attention/linear_attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/integers.h"
#include "case_graph.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

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

/// Numerators and divisors are sums of products with non-negative weights, so the rounding of a result is at most that
/// of so many terms of size |v|; results are means of values, which may be ten times smaller than the largest.
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

std::vector<double> features(FeatureMap map, std::span<const double> x) {
    std::vector<double> made(x.begin(), x.end());
    double square = 0;
    for (const double value : x) square += value * value;
    for (double& value : made) {
        if (map == FeatureMap::elu) value = value > 0 ? value + 1 : std::exp(value);
        if (map == FeatureMap::relu) value = std::max(0.0, value);
        if (map == FeatureMap::taylor) value = square > 0 ? value / std::sqrt(square) : 0.0;
    }
    if (map == FeatureMap::taylor) made.push_back(1);
    return made;
}

/// o by its definition: every weight, one by one.
std::vector<double> definition(const LinearCase& c, const Arrays& leaves) {
    const auto head = [&](std::string_view name, std::int64_t row, std::int64_t number, std::int64_t width) {
        const Array& x = leaves.at(std::string(name));
        return std::span(x.at).subspan(as_index(row * x.shape.width() + number * width), as_index(width));
    };
    const auto counted = [](const std::vector<double>& lengths, std::int64_t b, std::int64_t all) {
        if (lengths.empty()) return all;
        const double length = lengths.size() == 1 ? lengths[0] : lengths[as_index(b)];
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(length), 0, all);
    };
    std::vector<double> o(as_index(c.batch * c.queries * c.heads * c.value_width));
    for (std::int64_t place = 0; place < c.batch * c.queries * c.heads; ++place) {
        const std::int64_t m = place % c.heads, i = place / c.heads % c.queries, b = place / c.heads / c.queries;
        const std::int64_t t = counted(c.query_lengths, b, c.queries), s = counted(c.key_lengths, b, c.keys);
        if (i >= t) continue;
        const std::int64_t n = m / (c.heads / c.kv_heads), visible = c.causal ? std::min(s, i + s - t + 1) : s;
        const std::vector<double> q = features(c.features, head("x0", b * c.queries + i, m, c.width));
        std::vector<double> sum(as_index(c.value_width));
        double divisor = 0;
        for (std::int64_t j = 0; j < visible; ++j) {
            const std::vector<double> k = features(c.features, head("x1", b * c.keys + j, n, c.width));
            const std::span<const double> v = head("x2", b * c.keys + j, n, c.value_width);
            double weight = 0;
            for (std::size_t d = 0; d < q.size(); ++d) weight += q[d] * k[d];
            divisor += weight;
            for (std::size_t d = 0; d < v.size(); ++d) sum[d] += weight * v[d];
        }
        for (std::size_t d = 0; d < sum.size() && divisor > 1e-6; ++d)
            o[as_index(place * c.value_width) + d] = sum[d] / divisor;
    }
    return o;
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

std::vector<OpCase> op_cases(const std::vector<LinearCase>& cases) {
    std::vector<OpCase> made;
    for (const LinearCase& c : cases) made.push_back(op_case(c));
    return made;
}

VKF_OP_TABLE(LinearAttention, op_cases(linear_cases()));

TEST(HostLinearAttentionDefinition, IsTheQuotientOfWeightedSums) {
    for (const LinearCase& c : linear_cases()) {
        SCOPED_TRACE(c.name);
        const CaseGraph made(op_case(c), false);
        const std::vector<double> wanted = definition(c, made.leaves);
        const Array found = interpret(made.graph, made.leaves).at("y0");
        ASSERT_EQ(found.at.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found.at[i], wanted[i], 1e-12) << i;
    }
}

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

/// Rows 0 and 2 have a divisor of 0; row 1 has none, so that the case compares numbers, too.
const std::vector<OpCase> divisor_cases{
    with_divisor_zero("relu", FeatureMap::relu, false, {-1, -2, 1, 2, -0.5, -3}, {1, 2, 3, 1, 0.5, 2}),
    with_divisor_zero("relu, causal", FeatureMap::relu, true, {-1, -2, 1, 2, -0.5, -3}, {1, 2, 3, 1, 0.5, 2}),
    with_divisor_zero("taylor", FeatureMap::taylor, false, {-1, -2, 1, -2, -0.3f, -0.6f}, {1, 2, 0.5, 1, 7, 14}),
    with_divisor_zero("taylor, causal", FeatureMap::taylor, true, {-1, -2, 1, -2, -0.3f, -0.6f}, {1, 2, 0.5, 1, 7, 14}),
};

VKF_OP_TABLE(LinearAttentionDivisor, divisor_cases);

TEST(HostLinearAttentionDivisorOfZero, GivesZerosAndZeroGradients) {
    for (OpCase c : divisor_cases) {
        SCOPED_TRACE(c.name);
        c.operands[0].differentiate = c.operands[1].differentiate = true;
        const CaseGraph made(c, true);
        const Arrays found = interpret(made.graph, made.leaves);
        const auto row_is_zero = [&](const std::string& name, std::size_t row) {
            const Array& x = found.at(name);
            const std::size_t width = as_index(x.shape.width());
            return std::all_of(x.at.begin() + static_cast<std::ptrdiff_t>(row * width),
                               x.at.begin() + static_cast<std::ptrdiff_t>((row + 1) * width),
                               [](double value) { return value == 0; });
        };
        EXPECT_FALSE(row_is_zero("y0", 1));
        for (const std::string name : {"y0", "d_x0"})
            for (const std::size_t row : {0, 2}) EXPECT_TRUE(row_is_zero(name, row)) << name << ' ' << row;
        for (const auto& [name, x] : found)
            for (const double value : x.at) EXPECT_TRUE(std::isfinite(value)) << name;
    }
}

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

const std::vector<OpCase> step_cases{
    two_steps("one token", FeatureMap::elu, 1, false),
    two_steps("one token, lengths", FeatureMap::elu, 1, true),
    two_steps("some tokens, lengths", FeatureMap::relu, 3, true),
    two_steps("chunks of tokens, lengths", FeatureMap::taylor, 70, true),
};

VKF_OP_TABLE(LinearAttentionStep, step_cases);

/// Token by token after a prompt whose rows have different lengths: each row equals the same row as a whole.
TEST(HostLinearAttentionSteps, EqualTheWholeSequence) {
    constexpr std::int64_t batch = 3, prompt = 70, steps = 4, heads = 4, kv_heads = 2, width = 6;
    const std::array<std::int64_t, batch> lengths{70, 3, 0};
    for (const FeatureMap features : {FeatureMap::elu, FeatureMap::relu, FeatureMap::taylor}) {
        // Rows of all positions: the prompt's up to each row's length, then one per step.
        const LinearCase whole{.name = "whole",
                               .features = features,
                               .causal = true,
                               .batch = batch,
                               .queries = prompt + steps,
                               .keys = prompt + steps,
                               .heads = heads,
                               .kv_heads = kv_heads};
        const Arrays all = draw(op_case(whole));
        Graph graph;
        LinearAttentionOptions options{.heads = heads, .kv_heads = kv_heads, .features = features};
        Tensor state = fill(graph, {batch, linear_attention_state(options, width, width)}, 0.0f);
        Arrays leaves;
        const auto positions = [&](const std::string& name, std::int64_t step) {
            const Array& x = all.at(name);
            const std::int64_t count = step == 0 ? prompt : 1, columns = x.shape.width();
            Array part{{batch, count, columns}, {}};
            for (std::int64_t i = 0; i < batch * count; ++i) {
                const std::int64_t row = i % count + (step == 0 ? 0 : lengths[as_index(i / count)] + step - 1);
                const auto first = x.at.begin() + (i / count * (prompt + steps) + row) * columns;
                part.at.insert(part.at.end(), first, first + columns);
            }
            const std::string leaf = name + "." + std::to_string(step);
            leaves[leaf] = part;
            return graph.input(leaf, {DType::f32, part.shape});
        };
        options.key_lengths = graph.input("lengths", {DType::i32, {batch}});
        leaves["lengths"] = {{batch}, {lengths.begin(), lengths.end()}};
        for (std::int64_t step = 0; step <= steps; ++step) {
            const Tensor q = positions("x0", step), k = positions("x1", step), v = positions("x2", step);
            const LinearAttentionStep made = linear_attention_step(q, k, v, state, options);
            graph.output("o" + std::to_string(step), made.o);
            state = made.state;
            options.key_lengths = {};
        }
        const std::vector<double> wanted = definition(whole, all);
        const Arrays found = interpret(graph, leaves);
        for (std::int64_t b = 0; b < batch; ++b)
            for (std::int64_t i = 0; i < lengths[as_index(b)] + steps; ++i)
                for (std::int64_t d = 0; d < heads * width; ++d) {
                    const std::int64_t length = lengths[as_index(b)], step = i < length ? 0 : i - length + 1;
                    const std::int64_t row = step == 0 ? b * prompt + i : b;
                    EXPECT_NEAR(found.at("o" + std::to_string(step)).at[as_index(row * heads * width + d)],
                                wanted[as_index((b * (prompt + steps) + i) * heads * width + d)], 1e-12)
                        << b << ' ' << i << ' ' << d;
                }
    }
}

TEST(HostLinearAttentionShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    auto input = [&, count = 0](Shape shape, DType dtype = DType::f32) mutable {
        return graph.input("x" + std::to_string(count++), {dtype, std::move(shape)});
    };
    const Tensor x = input({3, 5, 8}), four = input({3, 4, 8}), each = input({3}, DType::i32),
                 one = input({1}, DType::i32), floats = input({3}), wide = input({1, 2, 257}), state = input({3, 128});
    EXPECT_NO_THROW(linear_attention(x, x, x, {.heads = 2, .query_lengths = each, .key_lengths = one}));
    EXPECT_THROW(linear_attention(x, x, x, {.heads = 3}), InputError);
    EXPECT_THROW(linear_attention(x, x, x, {.heads = 4, .kv_heads = 3}), InputError);
    EXPECT_THROW(linear_attention(x, x, four, {.heads = 2}), InputError);
    EXPECT_THROW(linear_attention(x, input({2, 5, 8}), x, {.heads = 2}), InputError);
    EXPECT_THROW(linear_attention(x, input({3, 5, 12}), x, {.heads = 2}), InputError);
    EXPECT_THROW(linear_attention(wide, wide, wide, {}), InputError);
    EXPECT_THROW(linear_attention(x, x, x, {.heads = 2, .query_lengths = one}), InputError);
    EXPECT_THROW(linear_attention(x, x, x, {.heads = 2, .key_lengths = floats}), InputError);
    EXPECT_EQ(linear_attention_state({.heads = 2}, 4, 4), 128);
    EXPECT_NO_THROW(linear_attention_step(x, x, x, state, {.heads = 2, .key_lengths = each}));
    EXPECT_THROW(linear_attention_step(four, x, x, state, {.heads = 2}), InputError);
    EXPECT_THROW(linear_attention_step(x, x, x, state, {.heads = 2, .query_lengths = each}), InputError);
    EXPECT_THROW(linear_attention_step(x, x, x, input({3, 64}), {.heads = 2}), InputError);
}

}  // namespace
}  // namespace vkf::test
