#include "ops/attention/rope.h"

#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "models/attention/rope_scaling.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

/// Interpreter's rope of x at one position.
std::vector<double> turned(const std::vector<double>& x, double position, std::int64_t table_rows, double theta,
                           bool clockwise) {
    Graph graph;
    const auto width = std::ssize(x);
    const Tensor in = graph.input("x", {DType::f32, {1, 1, width}});
    const Tensor at = graph.input("at", {DType::i32, {1}});
    const Tensor table = rope_table(graph, rope_frequencies(width, theta), table_rows);
    graph.output("y", rope(in, table, {.clockwise = clockwise, .positions = at}));
    return interpret(graph, {{"x", {{1, 1, width}, x}}, {"at", {{1}, {position}}}}).at("y").at;
}

TEST(HostRopeAngles, AreRightAtPosition131071) {
    const std::int64_t last = 131071, width = 64;
    for (const double theta : {1e4, 5e5}) {
        std::vector<double> x(width, 0.0);
        for (std::size_t i = 0; i < width / 2; ++i) x[i] = 1.0;  // rotated, these are the cosines, then the sines
        const std::vector<double> y = turned(x, static_cast<double>(last), last + 1, theta, false);
        for (std::size_t i = 0; i < width / 2; ++i) {
            const long double frequency = std::pow(static_cast<long double>(theta), -2.0L * i / width);
            const long double angle = last * frequency;
            // Rounded once to fp32; the angle in double is off by a few of its own last places, 131071 · 2^-53 each.
            EXPECT_NEAR(y[i], static_cast<double>(std::cos(angle)), 0x1p-25 + 1e-10) << "angle " << i;
            EXPECT_NEAR(y[i + width / 2], static_cast<double>(std::sin(angle)), 0x1p-25 + 1e-10) << "angle " << i;
        }
    }
}

TEST(HostRope, TurnsElementAndItsPartnerInTheOtherHalf) {
    // Frequencies 1 and 1/100 at position 2: (1, 0) in the first pair, (0, 1) in the second.
    const std::vector<double> y = turned({1, 0, 0, 1}, 2, 3, 1e4, false);
    const std::vector<double> wanted{std::cos(2.0), -std::sin(0.02), std::sin(2.0), std::cos(0.02)};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], wanted[i], 0x1p-25) << i;
    const std::vector<double> back = turned({1, 0, 0, 1}, 2, 3, 1e4, true);
    const std::vector<double> mirrored{std::cos(2.0), std::sin(0.02), -std::sin(2.0), std::cos(0.02)};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(back[i], mirrored[i], 0x1p-25) << i;
}

TEST(HostRope, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {2, 5, 24}});
    const Tensor table = rope_table(graph, rope_frequencies(8, 1e4), 5);
    EXPECT_THROW(rope(x, rope_table(graph, rope_frequencies(10, 1e4), 5)), InputError);
    EXPECT_THROW(rope(x, rope_table(graph, rope_frequencies(8, 1e4), 4)), InputError);
    EXPECT_THROW(rope(x, table, {.positions = graph.input("p", {DType::i32, {4}})}), InputError);
    EXPECT_THROW(rope(x, table, {.positions = graph.input("q", {DType::f32, {5}})}), InputError);
    EXPECT_THROW(rope(x, graph.input("longer", {DType::f32, {2, 6, 8}}), table), InputError);
    EXPECT_THROW(rope(x, graph.input("wider", {DType::f32, {2, 5, 12}}), table), InputError);
}

}  // namespace
}  // namespace vkf::test
