// Every mask: compares the kernels with the reference.
#include "ops/attention/attention_mask.h"

#include "base/error.h"
#include "op_check.h"
#include "ops/attention/attention.h"

namespace vkf::test {
namespace {

TEST(HostAttentionMaskShapes, RefusesWhatMakesNoSense) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {3, 5, 8}});
    const Tensor each = graph.input("each", {DType::i32, {3}}), one = graph.input("one", {DType::i32, {1}});
    const Tensor floats = graph.input("floats", {DType::f32, {3}});
    const auto masked = [&](const AttentionMask& mask) { return attention(x, x, x, {.heads = 2, .mask = mask}); };
    EXPECT_NO_THROW(masked({.window_left = 0, .window_right = 0, .query_lengths = each, .key_lengths = one}));
    EXPECT_THROW(masked({.window_left = -1}), InputError);
    EXPECT_THROW(masked({.window_right = -1}), InputError);
    EXPECT_THROW(masked({.dilation = 0}), InputError);
    EXPECT_THROW(masked({.block = 0}), InputError);
    EXPECT_THROW(masked({.block = std::int64_t{1} << 25}), InputError);
    EXPECT_THROW(masked({.global_first = -1}), InputError);
    EXPECT_THROW(masked({.global_last = -1}), InputError);
    EXPECT_THROW(masked({.random_blocks = -1}), InputError);
    EXPECT_THROW(masked({.query_lengths = one}), InputError);
    EXPECT_THROW(masked({.key_lengths = floats}), InputError);
}

}  // namespace
}  // namespace vkf::test
