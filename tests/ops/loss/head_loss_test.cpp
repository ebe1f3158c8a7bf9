#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "op_check.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/loss/head_loss.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

struct Built {
    Graph graph;
    Tensor x = graph.input("x", {DType::f32, {2, 3, 4}});
    Tensor w = graph.input("w", {DType::f32, {5, 4}});
    Tensor targets = graph.input("targets", {DType::i32, {2, 3}});
};

TEST(HostHeadLoss, AnUpstreamGradientOfOneCostsNoPass) {
    Built b;
    const Tensor mean = head_loss(b.x, b.w, b.targets);
    const std::size_t forward = b.graph.nodes().size();
    gradients(mean, std::array{b.x, b.w});
    EXPECT_EQ(b.graph.nodes().size(), forward + 1);  // the constant 1
}

TEST(HostHeadLoss, AnyOtherConstantIsAFactor) {
    Built b;
    const Tensor mean = head_loss(b.x, b.w, b.targets), two = fill(b.graph, {}, 2.0f);
    const std::size_t forward = b.graph.nodes().size();
    gradients(std::span(&mean, 1), std::span(&two, 1), std::array{b.x, b.w});
    EXPECT_EQ(b.graph.nodes().size(), forward + 2);  // one product per gradient
}

TEST(HostHeadLoss, NorDoesOneThatItWasToldBeforehand) {
    Built b;
    const Tensor d = b.graph.input("d", {DType::f32, {}});
    const Tensor mean = head_loss(b.x, b.w, b.targets, {.d_loss = d});
    const std::size_t forward = b.graph.nodes().size();
    gradients(std::span(&mean, 1), std::span(&d, 1), std::array{b.x, b.w});
    EXPECT_EQ(b.graph.nodes().size(), forward);
}

TEST(HostHeadLoss, ItsGradientsAreMadeForThoseWhoReadThem) {
    Built b;
    const Tensor mean = head_loss(b.x, b.w, b.targets);
    b.graph.output("loss", mean);
    const auto made = [&] {
        std::vector<bool> present;
        for (const Tensor& out : outputs_to_make(b.graph, live_nodes(b.graph), b.graph.nodes()[0]))
            present.push_back(static_cast<bool>(out));
        return present;
    };
    EXPECT_EQ(made(), (std::vector{true, false, false}));
    const auto d = gradients(mean, std::array{b.x, b.w});
    EXPECT_EQ(made(), (std::vector{true, false, false}));
    b.graph.output("d_w", reshape(d[1], {20}));
    EXPECT_EQ(made(), (std::vector{true, false, true}));
    b.graph.output("d_x", scale(d[0], 2.0f));
    EXPECT_EQ(made(), (std::vector{true, true, true}));
}

TEST(HostHeadLoss, RefusesWhatDoesNotFit) {
    Built b;
    EXPECT_THROW(head_loss(b.x, b.graph.input("narrow", {DType::f32, {5, 3}}), b.targets), InputError);
    EXPECT_THROW(head_loss(b.x, b.x, b.targets), InputError);
    EXPECT_THROW(head_loss(b.x, b.w, b.graph.input("flat", {DType::i32, {6}})), InputError);
    EXPECT_THROW(head_loss(b.x, b.w, b.graph.input("real", {DType::f32, {2, 3}})), InputError);
    EXPECT_THROW(head_loss(b.x, b.w, b.targets, {.d_loss = b.graph.input("d", {DType::f32, {3}})}), InputError);
    for (const float epsilon : {-0.1f, 1.0f, std::nanf("")})
        EXPECT_THROW(head_loss(b.x, b.w, b.targets, {.terms = {.label_smoothing = epsilon}}), InputError);
}

}  // namespace
}  // namespace vkf::test
