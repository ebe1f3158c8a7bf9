// Linformer's attention compared with its definition, and with full attention where E = F = I.
#include "ops/linear_attention/linformer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/integers.h"
#include "checks/linear_attention/linformer_case.h"
#include "op_check.h"

namespace vkf::test {
namespace {

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
    for (const LinformerCase& c : linformer_list()) {
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
