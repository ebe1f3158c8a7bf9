#include "checks/attention/attention_case.h"

#include <cmath>

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/attention/attention.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::checks {
namespace {

constexpr std::int64_t WORD = std::int64_t{1} << 31;

}  // namespace

OpCase attention_case(std::string name, AttentionSizes s, AttentionOptions options, double spread, double ulps) {
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
        attention_case("one of all", {1, 1, 1, 1, 1, 1}),
        attention_case("one query", {2, 1, 19, 8}),
        attention_case("no key at all", {1, 1, 1, 4}, diagonal),
        attention_case("small gpt", {2, 64, 64, 32, 4, 4}, causal),
        attention_case("vit", {2, 65, 65, 16, 3, 3}),
        attention_case("vit off the diagonal", {2, 65, 65, 16, 3, 3}, diagonal),
        attention_case("gpt2", {1, 33, 33, 64, 3, 3}, causal),
        attention_case("causal off the diagonal", {1, 18, 18, 6}, both),
        attention_case("causal, more keys", {1, 5, 37, 6}, causal),
        attention_case("causal, fewer keys", {1, 37, 5, 6}, causal),  // the first queries see no key
        attention_case("off the diagonal, more keys", {1, 5, 37, 6}, diagonal),
        attention_case("off the diagonal, fewer keys", {1, 37, 5, 6}, both),
        attention_case("grouped", {1, 17, 17, 8, 6, 2}, causal),
        attention_case("all heads share one", {2, 9, 20, 5, 3, 1}),
        attention_case("one query of five heads that share one", {2, 1, 20, 6, 5, 1}),
        attention_case("smollm2", {1, 1, 61, 64, 9, 3}, causal),
        attention_case("even slices", {2, 17, 17, 8, 2, 2, 6}, causal),
        attention_case("odd slices", {2, 17, 17, 8, 2, 1, 3}, causal),
        attention_case("odd slices of odd heads", {1, 16, 31, 7, 2, 1, 3}),
        attention_case("own scale", {1, 7, 7, 8}, {.scale = 0.1f}),
        attention_case("dropout", {2, 17, 17, 8}, {.dropout = 0.3f, .salt = 7}),
        attention_case("dropout, causal, grouped", {1, 33, 33, 16, 4, 2},
                       {.dropout = 0.1f, .salt = 9, .mask = {.causal = true}}),
        attention_case("nearly all dropped", {1, 20, 20, 4}, {.dropout = 0.95f, .salt = 1}),
        // Logits are in the thousands: their rounding, 2^-24 of their size, dominates.
        attention_case("steep", {1, 33, 33, 16}, causal, 1e3, 4e4),
        attention_case("vanishing", {1, 17, 17, 16}, causal, 1e-30),
        attention_case("long", {1, 300, 300, 16, 1, 1}, causal, 1.0, 64),
        attention_case("long and wide", {1, 129, 131, 64, 2, 1}, causal, 1.0, 64),
        attention_case("wide, few keys", {1, 64, 5, 128, 2, 2}),
    };
    for (const std::int64_t padding : {0, 2, 3}) {  // the kernel adds the values' second gradient
        OpCase twice =
            attention_case(text("values used twice, padding ", padding), {2, 33, 33, 8, 4, 4, padding}, causal);
        twice.build = [](Inputs x) {
            const Tensor o = attention(x[0], x[1], x[2], {.heads = 4, .mask = {.causal = true}});
            return std::vector{add(o, x[2])};
        };
        cases.push_back(twice);
    }
    OpCase one_key = attention_case("one key", {2, 19, 1, 8});
    one_key.operands[0].differentiate = one_key.operands[1].differentiate = false;  // zero, except for rounding
    cases.push_back(one_key);
    for (const std::int64_t width : {1, 2, 3, 5, 15, 17, 31, 33, 48, 80, 100, 128, 256})
        cases.push_back(
            attention_case(text("width ", width), {1, 18, 21, width, 2, 1}, causal, 1.0, 32 + double(width) / 4));
    for (const std::int64_t count : {2, 3, 7, 15, 16, 31, 63, 69, 100})
        cases.push_back(attention_case(text(count, " positions"), {1, count, count, 4, 2, 2}, causal));
    return cases;
}

namespace {

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

}  // namespace

std::vector<OpCase> attention_cache_cases() {
    return {
        cached("next token", 1, 9, true),     cached("first token", 1, 1, true), cached("prompt", 11, 11, true),
        cached("more prompt", 5, 17, true),   cached("full", 1, 24, true),       cached("empty", 1, 0, true),
        cached("without order", 3, 7, false),
    };
}

}  // namespace vkf::checks
