// Masks that hide nothing, or the same as a simpler mask, give that mask's result and gradients to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "ops/attention/attention.h"
#include "ops/backward.h"
#include "program/program.h"

namespace vkf::test {
namespace {

constexpr std::int64_t length = 130;

/// o, dq, dk and dv of 2 heads of 8, one after the other.
std::vector<float> attended(const AttentionMask& mask) {
    Graph graph;
    const TensorType type{DType::f32, {1, length, 16}};
    const std::vector<Tensor> qkv{graph.input("q", type), graph.input("k", type), graph.input("v", type)};
    const Tensor o = attention(qkv[0], qkv[1], qkv[2], {.heads = 2, .mask = mask}), g = graph.input("g", type);
    graph.output("y0", o);
    const std::vector<Tensor> gradient = gradients(std::span(&o, 1), std::span(&g, 1), qkv);
    for (std::size_t i = 0; i < gradient.size(); ++i) graph.output("y" + std::to_string(i + 1), gradient[i]);
    State state(shared_device());
    Program program(shared_device(), graph, state);
    float step = 1.1f;
    for (const char* name : {"q", "k", "v", "g"}) {
        std::vector<float> x(static_cast<std::size_t>(type.shape.elements()));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(step * static_cast<float>(i + 1));
        program.write(name, x);
        step += 0.7f;
    }
    program.run();
    std::vector<float> all;
    for (const char* name : {"y0", "y1", "y2", "y3"}) {
        const std::vector<float> y = program.read(name);
        all.insert(all.end(), y.begin(), y.end());
    }
    return all;
}

TEST(DeviceAttentionMaskLimits, WindowsOfTheWholeLengthAreFullAttention) {
    const std::vector<float> full = attended({});
    EXPECT_EQ(attended({.window_left = length, .window_right = length}), full);
    EXPECT_EQ(attended({.window_left = length, .window_right = length, .global_first = 4, .random_blocks = 2}), full);
    EXPECT_EQ(attended({.causal = true, .window_left = length, .block = 16, .global_first = 1, .random_blocks = 3}),
              attended({.causal = true}));
}

TEST(DeviceAttentionMaskLimits, BigBirdWithAllBlocksIsFullAttention) {
    const std::vector<float> full = attended({});
    AttentionMask mask{.window_left = 1, .window_right = 1, .block = 16, .global_first = 1, .global_last = 1};
    EXPECT_NE(attended(mask), full);
    mask.random_blocks = 100;
    EXPECT_EQ(attended(mask), full) << "by random blocks";
    mask.random_blocks = 0;
    mask.global_first = 100;
    EXPECT_EQ(attended(mask), full) << "by global blocks";
}

}  // namespace
}  // namespace vkf::test
