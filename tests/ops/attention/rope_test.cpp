#include "ops/attention/rope.h"

#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

std::vector<double> frequencies(std::int64_t head, double theta) {
    std::vector<double> made;
    for (std::int64_t i = 0; i < head / 2; ++i)
        made.push_back(std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(head)));
    return made;
}

/// x [B, T, heads·D] at positions 0, 1, …, in a tensor that is `padding` columns wider.
OpCase counted(std::string name, Shape shape, std::int64_t heads, std::int64_t padding = 0, bool clockwise = false) {
    const std::int64_t head = shape.width() / heads, length = shape[1];
    const bool small = shape.elements() < 4000;
    return {.name = std::move(name),
            .operands = {padding ? padded(std::move(shape), padding) : normal(std::move(shape))},
            .build =
                [=](Inputs x) {
                    const Tensor table = rope_table(x[0].graph(), frequencies(head, 1e4), length + 3);
                    return std::vector{rope(x[0], table, {.clockwise = clockwise})};
                },
            .ulps = 4,  // three roundings, and that of the table
            .gradient_ulps = 4,
            .finite_differences = small};
}

/// A case with given positions, inside a table of 19 positions or outside.
OpCase given(std::string name, Shape shape, std::int64_t heads, Operand positions) {
    const std::int64_t head = shape.width() / heads;
    return {.name = std::move(name),
            .operands = {normal(std::move(shape)), std::move(positions)},
            .build =
                [=](Inputs x) {
                    const Tensor table = rope_table(x[0].graph(), frequencies(head, 5e5), 19);
                    return std::vector{rope(x[0], table, {.positions = x[1]})};
                },
            .ulps = 4,
            .gradient_ulps = 4};
}

const std::vector<OpCase> rope_cases{
    counted("one pair", {1, 1, 2}, 1),
    counted("an odd half", {2, 5, 6}, 1),
    counted("odd halves", {2, 7, 30}, 3),
    counted("even halves", {2, 7, 24}, 3),
    counted("heads of 64", {3, 17, 192}, 3),
    counted("heads of 128, many rows", {2, 131, 256}, 2),
    counted("many narrow heads", {1, 9, 68}, 17),
    counted("a wide head", {1, 3, 1030}, 1),
    counted("clockwise", {2, 7, 24}, 3, 0, true),
    counted("slices", {2, 5, 24}, 2, 10),
    counted("slices at odd elements", {2, 5, 12}, 1, 3),
    {"queries and keys of a common product",
     {normal({2, 5, 40})},
     [](Inputs x) {
         const std::array<std::int64_t, 3> widths{16, 8, 16};
         const auto part = split(x[0], widths);
         const Tensor table = rope_table(x[0].graph(), frequencies(8, 1e4), 5);
         const auto [q, k] = rope(part[0], part[1], table);
         return std::vector{q, k, part[2]};
     }},
    {"queries and keys of other pitches",
     {padded({2, 7, 24}, 3), padded({2, 7, 12}, 2)},
     [](Inputs x) {
         const auto [q, k] = rope(x[0], x[1], rope_table(x[0].graph(), frequencies(6, 1e4), 9), {.clockwise = true});
         return std::vector{q, k};
     }},
    {"queries and keys at given positions",
     {normal({3, 5, 32}), normal({3, 5, 8}), integers({3, 5}, 0, 19)},
     [](Inputs x) {
         const Tensor table = rope_table(x[0].graph(), frequencies(8, 1e4), 19);
         const auto [q, k] = rope(x[0], x[1], table, {.positions = x[2]});
         return std::vector{q, k};
     }},
    {"only the keys' rotation is read",
     {normal({2, 5, 16}), normal({2, 5, 8})},
     [](Inputs x) {
         const Tensor table = rope_table(x[0].graph(), frequencies(8, 1e4), 5);
         return std::vector{rope(x[0], x[1], table)[1], scale(x[0], 2.0f)};
     }},
    {"only the queries' rotation is read",
     {normal({2, 5, 16}), normal({2, 5, 8})},
     [](Inputs x) {
         const Tensor table = rope_table(x[0].graph(), frequencies(8, 1e4), 5);
         return std::vector{rope(x[0], x[1], table)[0], scale(x[1], 2.0f)};
     }},
    {"in place of another rotation",
     {normal({2, 5, 16})},
     [](Inputs x) {
         const Tensor table = rope_table(x[0].graph(), frequencies(8, 1e4), 5);
         return std::vector{rope(rope(x[0], table), table)};
     }},
    given("positions of all", {3, 5, 16}, 2, integers({5}, 0, 19)),
    given("positions of each", {3, 5, 16}, 2, integers({3, 5}, 0, 19)),
    given("positions outside", {3, 5, 16}, 2, integers({3, 5}, -9, 40)),
    {"positions in a slice",
     {normal({2, 3, 8}), integers({2, 5}, 0, 19)},
     [](Inputs x) {
         const Tensor table = rope_table(x[0].graph(), frequencies(8, 1e4), 19);
         return std::vector{rope(x[0], table, {.positions = slice(x[1], -1, 1, 3)})};
     }},
};

VKF_OP_TABLE(Rope, rope_cases);

/// Interpreter's rope of x at one position.
std::vector<double> turned(const std::vector<double>& x, double position, std::int64_t table_rows, double theta,
                           bool clockwise) {
    Graph graph;
    const auto width = std::ssize(x);
    const Tensor in = graph.input("x", {DType::f32, {1, 1, width}});
    const Tensor at = graph.input("at", {DType::i32, {1}});
    const Tensor table = rope_table(graph, frequencies(width, theta), table_rows);
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
    const Tensor table = rope_table(graph, frequencies(8, 1e4), 5);
    EXPECT_THROW(rope(x, rope_table(graph, frequencies(10, 1e4), 5)), InputError);
    EXPECT_THROW(rope(x, rope_table(graph, frequencies(8, 1e4), 4)), InputError);
    EXPECT_THROW(rope(x, table, {.positions = graph.input("p", {DType::i32, {4}})}), InputError);
    EXPECT_THROW(rope(x, table, {.positions = graph.input("q", {DType::f32, {5}})}), InputError);
    EXPECT_THROW(rope(x, graph.input("longer", {DType::f32, {2, 6, 8}}), table), InputError);
    EXPECT_THROW(rope(x, graph.input("wider", {DType::f32, {2, 5, 12}}), table), InputError);
}

}  // namespace
}  // namespace vkf::test
