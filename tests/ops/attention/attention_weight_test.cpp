// Checks on the tests' device that a GPU's own exponential keeps the bounds that lib/exponential.glsl derives for
// weight_below.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "device_fixture.h"
#include "op_check.h"
#include "ops/attention/attention.h"
#include "program/program.h"

namespace vkf::test {
namespace {

/// Two keys have logits 0 and -t in base 2, and values 0 and 1: o = w / (1 + w) with w = 2^-t.
TEST(DeviceImplementationsAttentionWeight, IsAsCloseAsVulkanGrants) {
    Device& device = shared_device();
    DeviceTraits lowering = traits_of_gpu(device);
    lowering.matrices.reset();
    constexpr std::int64_t batches = 4096, queries = 8, last = 160;
    constexpr float ln_2 = 0.693147181f, log2_e = 1.44269504f;
    Graph graph;
    const Tensor q = graph.input("q", {DType::f32, {batches, queries, 1}});
    const Tensor k = graph.input("k", {DType::f32, {batches, 2, 1}});
    const Tensor v = graph.input("v", {DType::f32, {batches, 2, 1}});
    graph.output("o", attention(q, k, v, {.scale = ln_2}));
    State state(device);
    Program program(device, graph, state, {.traits = lowering});
    std::vector<float> rows(batches * 2, 0.0f), values(batches * 2, 0.0f);
    for (std::size_t b = 0; b < batches; ++b) {
        rows[2 * b + 1] = -static_cast<float>(b) * (static_cast<float>(last) / batches);
        values[2 * b + 1] = 1.0f;
    }
    rows.back() = -INFINITY;
    program.write("q", std::vector<float>(batches * queries, 1.0f));
    program.write("k", rows);
    program.write("v", values);
    program.run();
    const std::vector<float> found = program.read("o");
    for (std::size_t b = 0; b < batches; ++b) {
        const float exponent = ln_2 * log2_e * rows[2 * b + 1];  // as the kernel rounds it
        const double t = -static_cast<double>(exponent), w = std::exp2(-t), wanted = w / (1 + w);
        // Errors in units of 2^-23: 3 + 2t from the exponential, 2.5 from the division, 0.5 each from the sum and the
        // last product. Numbers below 2^-100 may become anything from 0 to twice themselves.
        if (std::isinf(t)) continue;
        const double off = (3 + 2 * t + 3.5) * std::ldexp(wanted, -23) + (t > 100 ? wanted : 0);
        for (std::size_t i = 0; i < queries; ++i)
            ASSERT_NEAR(static_cast<double>(found[b * queries + i]), wanted, off) << "t is " << t;
    }
    EXPECT_EQ(found.front(), 0.5f) << "2^0 is not 1";
    EXPECT_EQ(found.back(), 0.0f) << "2^-inf is not 0";
}

}  // namespace
}  // namespace vkf::test
