#include "ops/linear_attention/head_features.h"

#include <cmath>

#include "base/error.h"
#include "op_check.h"
#include "ops/linear_attention/head_quotients.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

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

const std::vector<OpCase> head_features_cases{
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
    features("queries", elu, normal({2, 5, 4 * 6}), {.heads = 4, .sharing = 2, .chunk = 8, .chunks = 3, .keys = 23}),
    features("more queries than keys", elu, normal({2, 11, 2 * 6}), {.heads = 2, .chunk = 4, .chunks = 2, .keys = 5}),
    features("queries with lengths", taylor, normal({4, 11, 2 * 6}), {.heads = 2, .chunk = 4, .chunks = 4, .keys = 13},
             {11, 3, 7, 0}, {13, 13, 2, 6}),
    features("queries of one length of keys", elu, normal({2, 3, 2 * 6}),
             {.heads = 2, .chunk = 4, .chunks = 4, .keys = 13}, {2, 3}, {7}),
};

VKF_OP_TABLE(HeadFeatures, head_features_cases);

TEST(HostHeadFeaturesShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {2, 3, 12}}), floats = graph.input("floats", {DType::f32, {2}}),
                 three = graph.input("three", {DType::i32, {3}});
    EXPECT_NO_THROW(head_features(x, elu, {.heads = 3, .chunk = 3}));
    EXPECT_THROW(head_features(x, elu, {.heads = 5, .chunk = 3}), InputError);
    EXPECT_THROW(head_features(x, elu, {.heads = 3, .chunk = 2}), InputError);
    EXPECT_THROW(head_features(x, elu, {.heads = 3, .chunk = 2, .chunks = 2, .keys = 5}), InputError);
    EXPECT_THROW(head_features(reshape(x, {6, 12}), elu, {.heads = 3, .chunk = 3}), InputError);
    EXPECT_THROW(head_features(x, elu, {.heads = 3, .chunk = 3, .lengths = floats}), InputError);
    EXPECT_THROW(head_features(x, elu, {.heads = 3, .chunk = 3, .lengths = three}), InputError);
}

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

const std::vector<OpCase> head_quotients_cases{
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

VKF_OP_TABLE(HeadQuotients, head_quotients_cases);

TEST(HostHeadQuotientsShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor y = graph.input("y", {DType::f32, {6, 3, 8}});
    EXPECT_NO_THROW(head_quotients(y, 2, 3, 7, {.heads = 3, .chunk = 3}, 0.0f));
    EXPECT_THROW(head_quotients(y, 2, 3, 8, {.heads = 3, .chunk = 3}, 0.0f), InputError);
    EXPECT_THROW(head_quotients(y, 3, 3, 7, {.heads = 3, .chunk = 3}, 0.0f), InputError);
}

}  // namespace
}  // namespace vkf::test
