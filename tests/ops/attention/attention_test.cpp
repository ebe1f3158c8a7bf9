#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/autotuner.h"
#include "op_check.h"
#include "ops/attention/attention.h"
#include "ops/chosen_implementation.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

constexpr std::int64_t WORD = std::int64_t{1} << 31;

struct Sizes {
    std::int64_t batch, queries, keys, width;
    std::int64_t heads = 2, kv_heads = 2;
    std::int64_t padding = 0;
};

/// Errors are those of the logits, whose rounding is a few 2^-24 of Σ |q k| · scale: with normal inputs about √D of it,
/// and dominated by D terms summed one after the other.
OpCase attend(std::string name, Sizes s, AttentionOptions options = {}, double spread = 1.0, double ulps = 32) {
    options.heads = s.heads;
    options.kv_heads = s.kv_heads;
    const Shape q{s.batch, s.queries, s.heads * s.width}, k{s.batch, s.keys, s.kv_heads * s.width};
    const auto operand = [&](const Shape& shape, double deviation) {
        Operand made = normal(shape, deviation);
        made.padding = s.padding;
        return made;
    };
    const bool small = s.batch * s.heads * s.queries * s.keys * s.width <= 20000 && spread <= 1.0;
    OpCase made{std::move(name),
                {operand(q, spread), operand(k, 1.0), operand(k, 1.0), integers({2}, -WORD, WORD)},
                [options](Inputs x) {
                    AttentionOptions chosen = options;
                    if (options.dropout > 0) chosen.seed = x[3];
                    return std::vector{attention(x[0], x[1], x[2], chosen)};
                },
                ulps,
                4 * ulps,
                small,
                true};  // <g, o> is subtracted, with a rounded o
    return made;
}

std::vector<OpCase> attention_cases() {
    const AttentionOptions causal{.mask = {.causal = true}};
    const AttentionOptions diagonal{.mask = {.diagonal = true}};
    const AttentionOptions both{.mask = {.causal = true, .diagonal = true}};
    std::vector<OpCase> cases{
        attend("one of all", {1, 1, 1, 1, 1, 1}),
        attend("one query", {2, 1, 19, 8}),
        attend("no key at all", {1, 1, 1, 4}, diagonal),
        attend("small gpt", {2, 64, 64, 32, 4, 4}, causal),
        attend("vit", {2, 65, 65, 16, 3, 3}),
        attend("vit off the diagonal", {2, 65, 65, 16, 3, 3}, diagonal),
        attend("gpt2", {1, 33, 33, 64, 3, 3}, causal),
        attend("causal off the diagonal", {1, 18, 18, 6}, both),
        attend("causal, more keys", {1, 5, 37, 6}, causal),
        attend("causal, fewer keys", {1, 37, 5, 6}, causal),  // the first queries see no key
        attend("off the diagonal, more keys", {1, 5, 37, 6}, diagonal),
        attend("off the diagonal, fewer keys", {1, 37, 5, 6}, both),
        attend("grouped", {1, 17, 17, 8, 6, 2}, causal),
        attend("all heads share one", {2, 9, 20, 5, 3, 1}),
        attend("one query of five heads that share one", {2, 1, 20, 6, 5, 1}),
        attend("smollm2", {1, 1, 61, 64, 9, 3}, causal),
        attend("even slices", {2, 17, 17, 8, 2, 2, 6}, causal),
        attend("odd slices", {2, 17, 17, 8, 2, 1, 3}, causal),
        attend("odd slices of odd heads", {1, 16, 31, 7, 2, 1, 3}),
        attend("own scale", {1, 7, 7, 8}, {.scale = 0.1f}),
        attend("dropout", {2, 17, 17, 8}, {.dropout = 0.3f, .salt = 7}),
        attend("dropout, causal, grouped", {1, 33, 33, 16, 4, 2},
               {.dropout = 0.1f, .salt = 9, .mask = {.causal = true}}),
        attend("nearly all dropped", {1, 20, 20, 4}, {.dropout = 0.95f, .salt = 1}),
        // Logits are in the thousands: their rounding, 2^-24 of their size, dominates.
        attend("steep", {1, 33, 33, 16}, causal, 1e3, 4e4),
        attend("vanishing", {1, 17, 17, 16}, causal, 1e-30),
        attend("long", {1, 300, 300, 16, 1, 1}, causal, 1.0, 64),
        attend("long and wide", {1, 129, 131, 64, 2, 1}, causal, 1.0, 64),
        attend("wide, few keys", {1, 64, 5, 128, 2, 2}),
    };
    for (const std::int64_t padding : {0, 2, 3}) {  // the kernel adds the values' second gradient
        OpCase twice = attend(text("values used twice, padding ", padding), {2, 33, 33, 8, 4, 4, padding}, causal);
        twice.build = [](Inputs x) {
            const Tensor o = attention(x[0], x[1], x[2], {.heads = 4, .mask = {.causal = true}});
            return std::vector{add(o, x[2])};
        };
        cases.push_back(twice);
    }
    OpCase one_key = attend("one key", {2, 19, 1, 8});
    one_key.operands[0].differentiate = one_key.operands[1].differentiate = false;  // zero, except for rounding
    cases.push_back(one_key);
    for (const std::int64_t width : {1, 2, 3, 5, 15, 17, 31, 33, 48, 80, 100, 128, 256})
        cases.push_back(attend(text("width ", width), {1, 18, 21, width, 2, 1}, causal, 1.0, 32 + double(width) / 4));
    for (const std::int64_t count : {2, 3, 7, 15, 16, 31, 63, 69, 100})
        cases.push_back(attend(text(count, " positions"), {1, count, count, 4, 2, 2}, causal));
    return cases;
}

VKF_OP_TABLE(Attention, attention_cases());

/// The last queries attend to a cache of 24 keys, of which `count` are valid and the rest are NaN.
OpCase cached(std::string name, std::int64_t queries, std::int64_t count, bool causal) {
    const std::int64_t capacity = 24, width = 2 * 8;
    Operand rows = fixed({1, capacity, width});
    for (std::int64_t i = 0; i < capacity * width; ++i)
        rows.values.push_back(i < count * width ? static_cast<double>(static_cast<float>(std::sin(double(i))))
                                                : std::nan(""));
    Operand length = integers({1}, count, count + 1);
    return {std::move(name),
            {fixed({1, queries, width}), rows, rows, length},
            [causal](Inputs x) {
                return std::vector{
                    attention(x[0], x[1], x[2], {.heads = 2, .mask = {.causal = causal, .key_lengths = x[3]}})};
            },
            32,
            0,
            false};
}

const std::vector<OpCase> cache_cases{
    cached("next token", 1, 9, true),     cached("first token", 1, 1, true), cached("prompt", 11, 11, true),
    cached("more prompt", 5, 17, true),   cached("full", 1, 24, true),       cached("empty", 1, 0, true),
    cached("without order", 3, 7, false),
};

VKF_OP_TABLE(AttentionCache, cache_cases);

/// Each fp32 implementation, lowered as for a GPU.
class DeviceImplementationsAttention : public ::testing::TestWithParam<const char*> {};

TEST_P(DeviceImplementationsAttention, Kernels) {
    Always always(GetParam());
    DeviceTraits lowering = traits_of_gpu(shared_device());
    lowering.autotuner = &always;
    const AttentionOptions dropout{.dropout = 0.2f, .salt = 3, .mask = {.causal = true, .diagonal = true}};
    check_kernels(attend("two blocks", {1, 65, 70, 14, 4, 2, 2}, dropout), lowering);
    lowering.shared_bytes = 16384;
    check_kernels(attend("fewer keys, an odd width", {2, 37, 21, 37, 2, 2, 1}, {.mask = {.causal = true}}), lowering);
}

INSTANTIATE_TEST_SUITE_P(Fp32, DeviceImplementationsAttention, ::testing::Values("subgroup", "tile"));

TEST(HostAttentionShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const auto input = [&](const char* name, Shape shape) { return graph.input(name, {DType::f32, std::move(shape)}); };
    const Tensor q = input("q", {2, 5, 24}), k = input("k", {2, 7, 24}), narrow = input("narrow", {2, 7, 8});
    const Tensor other = input("other", {3, 7, 24}), flat = input("flat", {10, 24}), wide = input("wide", {2, 7, 514});
    const Tensor words = graph.input("words", {DType::i32, {3}});
    EXPECT_NO_THROW(attention(q, k, k, {.heads = 3}));
    EXPECT_NO_THROW(attention(q, narrow, narrow, {.heads = 3, .kv_heads = 1}));
    EXPECT_THROW(attention(q, k, narrow, {.heads = 3}), InputError);
    EXPECT_THROW(attention(q, narrow, narrow, {.heads = 3}), InputError);
    EXPECT_THROW(attention(q, other, other, {.heads = 3}), InputError);
    EXPECT_THROW(attention(flat, flat, flat, {.heads = 3}), InputError);
    EXPECT_THROW(attention(q, k, k, {.heads = 5}), InputError);
    EXPECT_THROW(attention(q, k, k, {.heads = 0}), InputError);
    EXPECT_THROW(attention(q, k, k, {.heads = 3, .kv_heads = 2}), InputError);
    EXPECT_THROW(attention(wide, wide, wide, {.heads = 2}), InputError);
    EXPECT_THROW(attention(q, k, k, {.heads = 3, .scale = -0.5f}), InputError);
    EXPECT_THROW(attention(q, k, k, {.heads = 3, .dropout = 0.1f}), InputError);
    EXPECT_THROW(attention(q, k, k, {.heads = 3, .dropout = 1.0f}), InputError);
    EXPECT_THROW(attention(q, k, k, {.heads = 3, .dropout = 0.1f, .seed = words}), InputError);
    EXPECT_THROW(attention(q, k, k, {.heads = 3, .mask = {.key_lengths = words}}), InputError);
}

}  // namespace
}  // namespace vkf::test
