#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/attention/project_out.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "program/program.h"

namespace vkf::test {
namespace {

TEST(HostProjectOutShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor o = graph.input("o", {DType::f32, {2, 12}});
    const Tensor v = graph.input("v", {DType::f32, {2, 12}});
    const Tensor narrow = graph.input("narrow", {DType::f32, {2, 5}});
    EXPECT_THROW(project_out(o, v, 5), InputError);
    EXPECT_THROW(project_out(o, v, 0), InputError);
    EXPECT_THROW(project_out(o, narrow, 1, 1), InputError);
    EXPECT_THROW(project_out(o, graph.input("short", {DType::f32, {1, 12}}), 1), InputError);
    EXPECT_THROW(project_out_both(o, v, 5), InputError);
    EXPECT_THROW(project_out_both(o, narrow, 3), InputError);
}

// ------------------------------------------------------------------------------------------- properties on the device

struct Projected {
    std::vector<float> y, d_o, d_v;
};

/// project_out and its gradients for given o, v and gradient g of the result, all [rows, width].
Projected project(const std::vector<float>& o, const std::vector<float>& v, const std::vector<float>& g,
                  std::int64_t width, std::int64_t groups) {
    const TensorType type{DType::f32, {static_cast<std::int64_t>(o.size()) / width, width}};
    Graph graph;
    const std::array inputs{graph.input("o", type), graph.input("v", type)};
    const Tensor d = graph.input("g", type);
    const Tensor y = project_out(inputs[0], inputs[1], groups);
    graph.output("y", y);
    const std::vector<Tensor> found = gradients(std::span(&y, 1), std::span(&d, 1), inputs);
    graph.output("d_o", found[0]);
    graph.output("d_v", found[1]);
    State state(shared_device());
    Program program(shared_device(), graph, state);
    program.write("o", o);
    program.write("v", v);
    program.write("g", g);
    program.run();
    return {program.read("y"), program.read("d_o"), program.read("d_v")};
}

std::vector<float> values(const std::string& name, std::size_t count) {
    const OpCase one{name,
                     {normal({static_cast<std::int64_t>(count)}), normal({static_cast<std::int64_t>(count)}),
                      normal({static_cast<std::int64_t>(count)})},
                     {}};
    const Arrays drawn = draw(one);
    const std::vector<double>& at = drawn.at(name).at;
    return {at.begin(), at.end()};
}

double dot(const std::vector<float>& a, const std::vector<float>& b, std::size_t first, std::size_t width) {
    double sum = 0;
    for (std::size_t i = first; i < first + width; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
}

class DeviceProjectOutIdentity : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(DeviceProjectOutIdentity, ResultsArePerpendicularToVAndNotLongerThanO) {
    const auto width = static_cast<std::size_t>(GetParam());
    const std::size_t groups = 3, rows = 11, count = width * groups * rows;
    const std::vector<float> o = values("x0", count), v = values("x1", count), g = values("x2", count);
    const Projected got = project(o, v, g, static_cast<std::int64_t>(width * groups), groups);
    // A lane adds up at most a quarter of a group, or the pairs of a short group; subtraction and division add a
    // few roundings.
    const double pairs = static_cast<double>(std::min<std::size_t>((width + 1) / 2, 16));
    const double roundings = (std::max(static_cast<double>(width) / 4, pairs) + 8) * std::ldexp(1.0, -24);
    for (std::size_t first = 0; first < count; first += width) {
        const auto length = [&](const std::vector<float>& x) { return std::sqrt(dot(x, x, first, width)); };
        EXPECT_LE(std::abs(dot(got.y, v, first, width)), roundings * length(o) * length(v));
        EXPECT_LE(std::abs(dot(got.d_o, v, first, width)), roundings * length(g) * length(v));
        EXPECT_LE(length(got.y), length(o) * (1 + roundings));
        EXPECT_LE(length(got.d_o), length(g) * (1 + roundings));
    }
}

TEST_P(DeviceProjectOutIdentity, OwnValueLeavesOnlyRoundingNoise) {
    const auto width = static_cast<std::size_t>(GetParam());
    const std::size_t count = width * 5;
    const std::vector<float> v = values("x1", count), g = values("x2", count);
    const Projected got = project(v, v, g, GetParam(), 1);
    for (std::size_t first = 0; first < count; first += width)
        EXPECT_LE(std::sqrt(dot(got.y, got.y, first, width)),
                  std::ldexp(4.0, -24) * std::sqrt(dot(v, v, first, width)));
}

TEST_P(DeviceProjectOutIdentity, ValuesWithoutADirectionProjectToNothing) {
    const auto width = static_cast<std::size_t>(GetParam());
    const std::size_t count = width * 4;
    const std::vector<float> o = values("x0", count), g = values("x2", count);
    std::vector<float> v = values("x1", count);
    for (std::size_t i = 0; i < count; ++i)
        if (i / width % 2 == 0) v[i] = i / width == 0 ? 0.0f : 1e-24f;  // the square of 1e-24 is 0 in fp32
    const Projected got = project(o, v, g, GetParam(), 1);
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(std::isfinite(got.y[i]) && std::isfinite(got.d_o[i]) && std::isfinite(got.d_v[i]))
            << "element " << i;
        if (i / width % 2 != 0) continue;
        EXPECT_EQ(got.y[i], o[i]);
        EXPECT_EQ(got.d_o[i], g[i]);
        EXPECT_EQ(got.d_v[i], 0.0f);
    }
}

INSTANTIATE_TEST_SUITE_P(Widths, DeviceProjectOutIdentity, ::testing::Values(1, 2, 3, 5, 16, 17, 32, 64, 100, 768));

TEST(HostProjectOutEdge, ExpansionAgreesWhereVIsZero) {
    OpCase zero{"zero", {normal({2, 6}), normal({2, 6}, 0.0)}, [](Inputs x) {
                    return std::vector{project_out(x[0], x[1], 2)};
                }};
    zero.finite_differences = false;  // any change of v creates a direction
    check_mathematics(zero);
}

}  // namespace
}  // namespace vkf::test
