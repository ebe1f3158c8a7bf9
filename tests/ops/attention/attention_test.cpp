#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "checks/attention/attention_case.h"
#include "device_fixture.h"
#include "graph/autotuner.h"
#include "op_check.h"
#include "ops/attention/attention.h"
#include "ops/chosen_implementation.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::test {
namespace {

/// Each fp32 implementation, lowered as for a GPU.
class DeviceImplementationsAttention : public ::testing::TestWithParam<const char*> {};

TEST_P(DeviceImplementationsAttention, Kernels) {
    Always always(GetParam());
    DeviceTraits lowering = traits_of_gpu(shared_device());
    lowering.autotuner = &always;
    const AttentionOptions dropout{.dropout = 0.2f, .salt = 3, .mask = {.causal = true, .diagonal = true}};
    check_kernels(attention_case("two blocks", {1, 65, 70, 14, 4, 2, 2}, dropout), lowering);
    lowering.shared_bytes = 16384;
    check_kernels(attention_case("fewer keys, an odd width", {2, 37, 21, 37, 2, 2, 1}, {.mask = {.causal = true}}),
                  lowering);
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
