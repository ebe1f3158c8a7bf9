#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "ops/optimizer/loss_scale.h"
#include "program/program.h"

namespace vkf::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

struct ScaleCase {
    std::string name;
    std::array<float, 3> before;  // the scaled norm, the scale, good steps so far
    LossScaleOptions options = {};
    double norm, clip;  // wanted results
    std::array<float, 2> after;
};

const std::vector<ScaleCase> cases{
    {.name = "a_good_step", .before = {48, 16, 0}, .norm = 3, .clip = 1.0 / 16, .after = {16, 1}},
    {.name = "another", .before = {48, 16, 1998}, .norm = 3, .clip = 1.0 / 16, .after = {16, 1999}},
    {.name = "the_last_before_growth", .before = {48, 16, 1999}, .norm = 3, .clip = 1.0 / 16, .after = {32, 0}},
    {.name = "a_short_interval",
     .before = {48, 16, 2},
     .options = {.growth_interval = 3},
     .norm = 3,
     .clip = 1.0 / 16,
     .after = {32, 0}},
    {.name = "growth_at_every_step",
     .before = {48, 16, 0},
     .options = {.growth_interval = 1},
     .norm = 3,
     .clip = 1.0 / 16,
     .after = {32, 0}},
    {.name = "more_good_steps_than_asked_for",
     .before = {48, 16, 9},
     .options = {.growth_interval = 3},
     .norm = 3,
     .clip = 1.0 / 16,
     .after = {32, 0}},
    {.name = "below_the_limit",
     .before = {48, 16, 0},
     .options = {.limit = 4},
     .norm = 3,
     .clip = 1.0 / 16,
     .after = {16, 1}},
    {.name = "above_the_limit",
     .before = {48, 16, 0},
     .options = {.limit = 0.5},
     .norm = 3,
     .clip = 0.5 / (3 + 1e-6) / 16,
     .after = {16, 1}},
    {.name = "small_gradients",
     .before = {48, 0x1p60f, 0},
     .options = {.limit = 0.5},
     .norm = 48 * 0x1p-60,
     .clip = 0x1p-60,
     .after = {0x1p60f, 1}},
    {.name = "nothing_at_all",
     .before = {0, 16, 5},
     .options = {.limit = 1},
     .norm = 0,
     .clip = 1.0 / 16,
     .after = {16, 6}},
    {.name = "the_largest_norm_there_is",
     .before = {0x1.fffffep127f, 16, 5},
     .norm = 0x1.fffffep123,
     .clip = 1.0 / 16,
     .after = {16, 6}},
    {.name = "too_large",
     .before = {infinity, 16, 1999},
     .options = {.limit = 1},
     .norm = infinity,
     .clip = -1,
     .after = {8, 0}},
    {.name = "not_a_number", .before = {nan, 16, 7}, .norm = nan, .clip = -1, .after = {8, 0}},
    {.name = "a_scale_below_one", .before = {infinity, 1, 0}, .norm = infinity, .clip = -1, .after = {0.5, 0}},
    {.name = "the_largest_scale",
     .before = {0x1p99f, 0x1p100f, 1999},
     .norm = 0.5,
     .clip = 0x1p-100,
     .after = {0x1p100f, 0}},
    {.name = "the_last_growth", .before = {0x1p99f, 0x1p99f, 1999}, .norm = 1, .clip = 0x1p-99, .after = {0x1p100f, 0}},
};

/// Checks within the rounding of three divisions, 2.5 units in the last place each, and of an addition, half a unit.
void expect_close(double found, double wanted, const char* what) {
    if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(found)) << what;
    } else if (std::isinf(wanted)) {
        EXPECT_EQ(found, wanted) << what;
    } else {
        EXPECT_NEAR(found, wanted, 8 * 0x1p-23 * std::abs(wanted)) << what;
    }
}

class DeviceLossScale : public ::testing::TestWithParam<ScaleCase> {};

TEST_P(DeviceLossScale, FollowsTheNorm) {
    const ScaleCase& c = GetParam();
    Graph graph;
    const Unscaled made =
        unscale(graph.input("scaled", {DType::f32, {}}), graph.state("state", {DType::f32, {2}}), c.options);
    graph.output("norm", made.norm);
    graph.output("clip", made.clip);
    const auto check = [&](double norm, double clip, const auto& state) {
        expect_close(norm, c.norm, "norm");
        expect_close(clip, c.clip, "clip");
        EXPECT_EQ(state[0], c.after[0]);
        EXPECT_EQ(state[1], c.after[1]);
    };
    const Arrays wanted =
        interpret(graph, {{"scaled", {{}, {c.before[0]}}}, {"state", {{2}, {c.before[1], c.before[2]}}}});
    check(wanted.at("norm").at[0], wanted.at("clip").at[0], wanted.at("state").at);
    for (const bool cpu : {true, false}) {
        DeviceTraits lowering = traits(shared_device());
        lowering.cpu = cpu;
        State state(shared_device());
        Program program(shared_device(), graph, state, {.guarded = true, .traits = lowering});
        state.write("state", std::array{c.before[1], c.before[2]});
        program.write("scaled", std::array{c.before[0]});
        program.run();
        EXPECT_EQ(program.damaged_guards(), "");
        check(program.read_scalar("norm"), program.read_scalar("clip"), state.read("state"));
    }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceLossScale, ::testing::ValuesIn(cases),
                         [](const auto& test) { return test.param.name; });

TEST(HostLossScale, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor norm = graph.input("norm", {DType::f32, {}}), state = graph.state("state", {DType::f32, {2}});
    EXPECT_THROW(unscale(state, state), InputError);
    EXPECT_THROW(unscale(norm, graph.state("one", {DType::f32, {1}})), InputError);
    EXPECT_THROW(unscale(norm, state, {.limit = -1}), InputError);
    EXPECT_THROW(unscale(norm, state, {.growth_interval = 0}), InputError);
}

}  // namespace
}  // namespace vkf::test
