// Steps that are skipped because the norm of their gradients is an outlier among the last norms.

#include "ops/optimizer/outlier.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "program/program.h"

namespace vkf::test {
namespace {

constexpr float limit = 2.5f;

struct Step {
    double norm, clip;  // inputs
};

/// Norms around 1 that grow slowly; some are four times as large, and some are not finite.
std::vector<Step> steps(std::int64_t window) {
    std::vector<Step> list;
    for (std::int64_t i = 0; i < 4 * window + 5; ++i) {
        const auto t = static_cast<double>(i);
        Step step{static_cast<double>(static_cast<float>(1 + 0.01 * t + 0.125 * std::sin(7 * t))), 0.5};
        if (i % (window + 3) == window + 1) step.norm *= 4;
        if (i % 9 == 5) step = {std::numeric_limits<double>::infinity(), -1};
        list.push_back(step);
    }
    return list;
}

/// Plain reference of the rule, which stores the last norms.
struct Wanted {
    std::size_t size;
    std::deque<double> norms = {};
    double z_score = 0, clip = 0;

    void take(const Step& step) {
        z_score = 0;
        clip = step.clip;
        if (clip < 0) return;
        norms.push_back(step.norm);
        if (norms.size() <= size) return;
        norms.pop_front();
        double sum = 0, squares = 0;
        for (const double x : norms) sum += x, squares += x * x;
        const double mean = sum / static_cast<double>(size);
        z_score = (step.norm - mean) / std::sqrt(squares / static_cast<double>(size) - mean * mean);
        if (z_score > static_cast<double>(limit)) clip = -1;
    }
};

void describe(Graph& graph, std::int64_t window) {
    const Tensor norm = graph.input("norm", {DType::f32, {}}), clip = graph.input("clip", {DType::f32, {}});
    const OutlierCheck made = skip_outliers(norm, clip, graph.state("state", {DType::f32, {1 + window}}), limit);
    graph.output("z", made.z_score);
    graph.output("new clip", made.clip);
}

class HostOutlier : public ::testing::TestWithParam<std::int64_t> {};
class DeviceOutlier : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(HostOutlier, IsWhatLiesFarAboveTheLastNorms) {
    Graph graph;
    describe(graph, GetParam());
    const Shape shape{1 + GetParam()};
    Wanted wanted{static_cast<std::size_t>(GetParam())};
    std::vector<double> state(static_cast<std::size_t>(shape.elements()));
    int skipped = 0;
    for (const Step& step : steps(GetParam())) {
        const Arrays made =
            interpret(graph, {{"norm", {{}, {step.norm}}}, {"clip", {{}, {step.clip}}}, {"state", {shape, state}}});
        wanted.take(step);
        ASSERT_NEAR(made.at("z").at[0], wanted.z_score, 1e-9);
        ASSERT_EQ(made.at("new clip").at[0], wanted.clip);
        skipped += step.clip > 0 && wanted.clip < 0;
        state = made.at("state").at;
    }
    EXPECT_GE(skipped, 2);
}

TEST_P(DeviceOutlier, IsWhatLiesFarAboveTheLastNorms) {
    for (const bool cpu : {true, false}) {
        Graph graph;
        describe(graph, GetParam());
        DeviceTraits lowering = traits(shared_device());
        lowering.cpu = cpu;
        State state(shared_device());
        Program program(shared_device(), graph, state, {.guarded = true, .traits = lowering});
        Wanted wanted{static_cast<std::size_t>(GetParam())};
        for (const Step& step : steps(GetParam())) {
            program.write("norm", std::array{static_cast<float>(step.norm)});
            program.write("clip", std::array{static_cast<float>(step.clip)});
            program.run();
            wanted.take(step);
            // Four invocations add up, so the mean of norms below 32 is off by at most W/4 + 4 roundings; the
            // deviation from the mean is at least 1/16.
            const double off = static_cast<double>(GetParam() / 4 + 4) * 32 * 0x1p-24 * 16;
            ASSERT_NEAR(program.read_scalar("z"), wanted.z_score, off * (1 + std::abs(wanted.z_score)));
            ASSERT_EQ(program.read_scalar("new clip"), static_cast<float>(wanted.clip));
        }
        EXPECT_EQ(program.damaged_guards(), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Windows, HostOutlier, ::testing::Values(11, outlier_window));
INSTANTIATE_TEST_SUITE_P(Windows, DeviceOutlier, ::testing::Values(11, outlier_window));

TEST(HostOutliers, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor one = graph.input("one", {DType::f32, {}}), window = graph.state("window", {DType::f32, {9}});
    EXPECT_THROW(skip_outliers(window, one, window, 1), InputError);
    EXPECT_THROW(skip_outliers(one, one, graph.state("two", {DType::f32, {2}}), 1), InputError);
    EXPECT_THROW(skip_outliers(one, one, window, 0), InputError);
}

}  // namespace
}  // namespace vkf::test
