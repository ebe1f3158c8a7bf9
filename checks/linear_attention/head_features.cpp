#include "ops/linear_attention/head_features.h"

#include "checks/op_tables.h"
#include "ops/linear_attention/head_quotients.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

constexpr HeadFeatureMap with_one = HeadFeatureMap::with_one, elu = HeadFeatureMap::elu, relu = HeadFeatureMap::relu,
                         taylor = HeadFeatureMap::taylor;

/// Features of x [B, T, H·D]. Lengths, and numbers of keys, follow x as operands where given.
OpCase features(std::string name, HeadFeatureMap map, Operand x, HeadChunks chunks, std::vector<double> lengths = {},
                std::vector<double> key_lengths = {}) {
    std::vector<Operand> operands{std::move(x)};
    for (const std::vector<double>& numbers : {lengths, key_lengths}) {
        if (numbers.empty()) continue;
        operands.push_back(integers({std::ssize(numbers)}, 0, 1));
        operands.back().values = numbers;
    }
    const bool own = !lengths.empty(), of_keys = !key_lengths.empty();
    const auto build = [=](Inputs in) {
        HeadChunks at = chunks;
        if (own) at.lengths = in[1];
        if (of_keys) at.key_lengths = in.back();
        return std::vector{head_features(in[0], map, at)};
    };
    return {.name = std::move(name), .operands = std::move(operands), .build = build};
}

Operand with_zeros() {
    Operand x = normal({1, 3, 6});
    x.values = {0, 0, 0, 1, -2, 3, 1e-30, 0, -1e-30, 0, 0, 1e-20, -5, 4, 3, 0, 0, 0};
    x.differentiate = false;
    return x;
}

}  // namespace

std::vector<OpCase> head_features_cases() {
    return {
        features("one element", elu, normal({1, 1, 1}), {}),
        features("identity", HeadFeatureMap::identity, padded({2, 5, 3 * 7}, 4), {.heads = 3, .chunk = 5}, {4, 0}),
        features("with one", with_one, normal({2, 5, 3 * 6}), {.heads = 3, .chunk = 5}),
        features("with one, odd", with_one, padded({2, 5, 3 * 7}, 4), {.heads = 3, .chunk = 5}),
        features("elu", elu, normal({2, 5, 3 * 6}, 3.0), {.heads = 3, .chunk = 5}),
        features("relu", relu, normal({2, 5, 3 * 7}), {.heads = 3, .chunk = 5}),
        features("taylor", taylor, normal({2, 5, 3 * 6}), {.heads = 3, .chunk = 5}),
        features("taylor, odd", taylor, padded({2, 5, 3 * 15}, 2), {.heads = 3, .chunk = 5}),
        features("taylor of zeros", taylor, with_zeros(), {.heads = 2, .chunk = 3}),
        features("wide heads", taylor, normal({1, 3, 2 * 250}), {.heads = 2, .chunk = 3}),
        features("chunks", elu, normal({2, 21, 2 * 6}), {.heads = 2, .chunk = 8, .chunks = 3}),
        features("shared chunks", elu, normal({2, 13, 6 * 4}), {.heads = 6, .sharing = 3, .chunk = 4, .chunks = 4}),
        features("lengths", elu, padded({5, 9, 2 * 6}, 4), {.heads = 2, .chunk = 4, .chunks = 3}, {0, 1, 9, 400, -3}),
        features("one length", with_one, normal({3, 9, 2 * 6}), {.heads = 2, .chunk = 4, .chunks = 3}, {5}),
        features("queries", elu, normal({2, 5, 4 * 6}),
                 {.heads = 4, .sharing = 2, .chunk = 8, .chunks = 3, .keys = 23}),
        features("more queries than keys", elu, normal({2, 11, 2 * 6}),
                 {.heads = 2, .chunk = 4, .chunks = 2, .keys = 5}),
        features("queries with lengths", taylor, normal({4, 11, 2 * 6}),
                 {.heads = 2, .chunk = 4, .chunks = 4, .keys = 13}, {11, 3, 7, 0}, {13, 13, 2, 6}),
        features("queries of one length of keys", elu, normal({2, 3, 2 * 6}),
                 {.heads = 2, .chunk = 4, .chunks = 4, .keys = 13}, {2, 3}, {7}),
    };
}

namespace {

/// Quotients [batch, length, heads·width]. The divisor's column is drawn around 3, so that it is not close to 0.
OpCase quotients(std::string name, std::int64_t batch, std::int64_t length, std::int64_t width, HeadChunks chunks,
                 std::vector<double> lengths = {}, float least = 0.0f) {
    const std::int64_t columns = feature_columns(with_one, width);
    std::vector<Operand> operands{
        normal(chunks.matrices({DType::f32, {batch, length, chunks.heads * width}}, columns).shape, 0.5, 3.0)};
    const bool own = !lengths.empty();
    if (own) {
        operands.push_back(integers({std::ssize(lengths)}, 0, 1));
        operands.back().values = std::move(lengths);
    }
    const auto build = [=](Inputs in) {
        HeadChunks at = chunks;
        if (own) at.lengths = in[1];
        return std::vector{head_quotients(in[0], batch, length, width, at, least)};
    };
    return {.name = std::move(name), .operands = std::move(operands), .build = build};
}

}  // namespace

std::vector<OpCase> head_quotients_cases() {
    return {
        quotients("one", 1, 1, 1, {}),
        quotients("even", 2, 5, 6, {.heads = 3, .chunk = 5}),
        quotients("odd", 2, 5, 7, {.heads = 3, .chunk = 5}),
        quotients("wide", 1, 3, 250, {.heads = 2, .chunk = 3}),
        quotients("shared chunks", 2, 13, 4, {.heads = 6, .sharing = 3, .chunk = 4, .chunks = 4}),
        quotients("lengths", 4, 9, 6, {.heads = 2, .chunk = 4, .chunks = 3}, {0, 1, 9, 400}),
        quotients("queries", 2, 5, 6, {.heads = 4, .sharing = 2, .chunk = 8, .chunks = 3, .keys = 23}),
        quotients("more queries than keys", 2, 11, 6, {.heads = 2, .chunk = 4, .chunks = 2, .keys = 5}),
        quotients("some divisors count as zero", 3, 9, 6, {.heads = 2, .chunk = 9}, {}, 3.0f),
    };
}

}  // namespace vkf::checks
