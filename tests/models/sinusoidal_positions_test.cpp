#include "models/attention/sinusoidal_positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "graph/reference.h"

namespace vkf::test {
namespace {

Array table_of(std::int64_t positions, std::int64_t width, SinusoidLayout layout) {
    Graph graph;
    graph.output("table", sinusoidal_positions(graph, positions, width, layout));
    return interpret(graph, {}).at("table");
}

double angle(std::int64_t t, std::int64_t k, std::int64_t width) {
    return static_cast<double>(t) / std::pow(10000.0, 2.0 * static_cast<double>(k) / static_cast<double>(width));
}

/// Numbers of at most 1 are rounded once, by at most 2^-25; angles are rounded in double, by 5000 · 2^-52 in all.
constexpr double rounding = 0x1p-25 + 5000 * 0x1p-52;

constexpr std::int64_t widths[] = {1, 2, 3, 8, 11, 64};

TEST(HostSinusoidalPositions, AreTheFormulaInterleaved) {
    for (const std::int64_t width : widths) {
        const Array table = table_of(5000, width, SinusoidLayout::interleaved);
        ASSERT_EQ(table.shape, (Shape{5000, width}));
        for (std::int64_t t = 0; t < 5000; ++t)
            for (std::int64_t column = 0; column < width; ++column) {
                const double x = angle(t, column / 2, width);
                ASSERT_NEAR(table.at[static_cast<std::size_t>(t * width + column)],
                            column % 2 == 0 ? std::sin(x) : std::cos(x), rounding)
                    << "width " << width << ", position " << t << ", column " << column;
            }
    }
}

/// Column 2k of the one layout is column k of the other, and column 2k + 1 is k columns after all sines.
TEST(HostSinusoidalPositions, AreTheSameNumbersInHalves) {
    for (const std::int64_t width : widths) {
        const Array pairs = table_of(7, width, SinusoidLayout::interleaved),
                    halves = table_of(7, width, SinusoidLayout::halves);
        ASSERT_EQ(halves.shape, pairs.shape);
        const std::int64_t sines = width - width / 2;
        for (std::int64_t t = 0; t < 7; ++t)
            for (std::int64_t column = 0; column < width; ++column) {
                const std::int64_t same = column < sines ? 2 * column : 2 * (column - sines) + 1;
                EXPECT_EQ(halves.at[static_cast<std::size_t>(t * width + column)],
                          pairs.at[static_cast<std::size_t>(t * width + same)])
                    << "width " << width << ", position " << t << ", column " << column;
            }
    }
}

TEST(HostSinusoidalPositions, RefusesEmptyTables) {
    Graph graph;
    EXPECT_THROW(sinusoidal_positions(graph, 0, 4, SinusoidLayout::halves), InputError);
    EXPECT_THROW(sinusoidal_positions(graph, 4, 0, SinusoidLayout::halves), InputError);
}

}  // namespace
}  // namespace vkf::test
