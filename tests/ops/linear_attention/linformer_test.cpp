// Linformer's attention compared with its definition, and with full attention where E = F = I.
#include "ops/linear_attention/linformer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/integers.h"
#include "case_graph.h"
#include "op_check.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

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

/// A combined key is a sum of so many rounded products, whose rounding attention sees in its logits.
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

const std::vector<LinformerCase> linformer_cases{
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

std::vector<OpCase> linformer_op_cases() {
    std::vector<OpCase> made;
    for (const LinformerCase& c : linformer_cases) made.push_back(op_case(c));
    return made;
}

VKF_OP_TABLE(Linformer, linformer_op_cases());

/// Sum of the keys' or values' rows that count, times row r of head n's matrix; one column.
double combined(const LinformerCase& c, const Array& x, const Array& matrix, std::int64_t b, std::int64_t n,
                std::int64_t r, std::int64_t d, std::int64_t width) {
    const std::int64_t length = c.key_lengths.empty() ? c.keys : static_cast<std::int64_t>(c.key_lengths[as_index(b)]);
    double sum = 0;
    for (std::int64_t j = 0; j < length; ++j)
        sum += matrix.at[as_index(((c.by_head ? n : 0) * c.combinations + r) * c.longest + j)] *
               x.at[as_index((b * c.keys + j) * x.shape.width() + n * width + d)];
    return sum;
}

TEST(HostLinformerDefinition, IsSoftmaxOverCombinedKeys) {
    for (const LinformerCase& c : linformer_cases) {
        SCOPED_TRACE(c.name);
        const CaseGraph made(op_case(c), false);
        const Arrays& x = made.leaves;
        const Array &e = x.at("x3"), &f = x.at(c.one ? "x3" : "x4");
        const Array found = interpret(made.graph, x).at("y0");
        for (std::int64_t place = 0; place < c.batch * c.queries * c.heads; ++place) {
            const std::int64_t m = place % c.heads, i = place / c.heads % c.queries, b = place / c.heads / c.queries;
            const std::int64_t n = m / (c.heads / c.kv_heads);
            const bool counts = c.query_lengths.empty() || static_cast<double>(i) < c.query_lengths[as_index(b)];
            std::vector<double> weights;
            double divisor = 0;
            for (std::int64_t r = 0; r < c.combinations; ++r) {
                double logit = 0;
                for (std::int64_t d = 0; d < c.width; ++d)
                    logit +=
                        x.at("x0").at[as_index(place * c.width + d)] * combined(c, x.at("x1"), e, b, n, r, d, c.width);
                weights.push_back(std::exp(logit / std::sqrt(static_cast<double>(c.width))));
                divisor += weights.back();
            }
            for (std::int64_t d = 0; d < c.value_width; ++d) {
                double o = 0;
                for (std::int64_t r = 0; r < c.combinations && counts; ++r)
                    o += weights[as_index(r)] / divisor * combined(c, x.at("x2"), f, b, n, r, d, c.value_width);
                EXPECT_NEAR(found.at[as_index(place * c.value_width + d)], o, 1e-12) << place << ' ' << d;
            }
        }
    }
}

TEST(HostLinformerOfIdentities, IsFullAttention) {
    constexpr std::int64_t keys = 9;
    std::vector<float> identity(keys * keys);
    for (std::int64_t i = 0; i < keys; ++i) identity[as_index(i * (keys + 1))] = 1;
    const OpCase c{.name = "identities",
                   .operands = {normal({2, 5, 4 * 6}), normal({2, keys, 2 * 6}), normal({2, keys, 2 * 7})},
                   .build = [&](Inputs x) {
                       const AttentionOptions options{.heads = 4, .kv_heads = 2, .scale = 0.3f};
                       const Tensor one = x[0].graph().constant({keys, keys}, std::span<const float>(identity));
                       return std::vector{attention(x[0], x[1], x[2], options),
                                          linformer_attention(x[0], x[1], x[2], one, one, options)};
                   }};
    const CaseGraph made(c, false);
    const Arrays found = interpret(made.graph, made.leaves);
    for (std::size_t i = 0; i < found.at("y0").at.size(); ++i)
        EXPECT_NEAR(found.at("y0").at[i], found.at("y1").at[i], 1e-14) << i;
}

TEST(HostLinformerShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {3, 5, 8}}), e = graph.input("e", {DType::f32, {4, 5}}),
                 by_head = graph.input("by_head", {DType::f32, {2, 4, 5}}),
                 narrow = graph.input("narrow", {DType::f32, {4, 4}}), low = graph.input("low", {DType::f32, {3, 5}});
    const auto made = [&](Tensor first, Tensor second, const AttentionMask& mask = {}) {
        return linformer_attention(x, x, x, first, second, {.heads = 2, .mask = mask});
    };
    EXPECT_NO_THROW(made(e, by_head));
    EXPECT_THROW(made(narrow, e), InputError);
    EXPECT_THROW(made(e, low), InputError);
    EXPECT_THROW(made(e, x), InputError);
    EXPECT_THROW(made(e, e, {.causal = true}), InputError);
    EXPECT_THROW(made(e, e, {.diagonal = true}), InputError);
    EXPECT_THROW(made(e, e, {.window_left = 2}), InputError);
    EXPECT_THROW(linformer_attention(x, x, x, e, e, {.heads = 3}), InputError);
}

}  // namespace
}  // namespace vkf::test
