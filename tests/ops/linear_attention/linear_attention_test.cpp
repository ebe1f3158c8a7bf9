// Linear attention compared with its definition, a double loop over queries and keys, and a step with the whole.
#include "ops/linear_attention/linear_attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/integers.h"
#include "checks/linear_attention/linear_case.h"
#include "checks/op_tables.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

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

TEST(HostLinearAttentionDivisorOfZero, GivesZerosAndZeroGradients) {
    for (OpCase c : linear_attention_divisor_cases()) {
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
