#include "apps/plots/text_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/plots/line_plot.h"
#include "base/error.h"

namespace vkf::test {
namespace {

/// The heavy curve's dots are two high, and the other curve goes from the lower left to the upper right.
TEST(HostTextPlot, DrawsALine) {
    EXPECT_EQ(
        text_plot({{"other", {0, 9}, {5, 5}}, {"line", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}},
                  24, 2),
        "       9 ⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣶⣶⣭\n"
        "       0 ⣀⠤⠤⠒⠒⠊⠉⠁⠀⠀⠀⠀⠀⠀⠀\n"
        "         0             9\n"
        "         other (heavy), line\n");
}

TEST(HostTextPlot, LeavesOutWhatIsNoNumber) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const std::string made = text_plot({{"a", {0, 1, 2}, {1, none, 1}}}, 24, 2);
    EXPECT_EQ(made.substr(made.find('\n') + 1, 9), "       1 ");
    EXPECT_THROW(text_plot({{"a", {0}, {none}}}, 24, 2), InputError);
    EXPECT_THROW(text_plot({{"a", {0}, {1}}}, 23, 2), InputError);
}

TEST(HostLinePlot, DrawsWhatCanBeDrawn) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    LinePlot plot{.title = "<&>", .x_label = "x", .y_label = "y", .log_y = true};
    plot.curves = {{.name = "a", .x = {0, 1, 2, 3}, .y = {1, none, 10, 100}}};
    const std::string svg = line_plot_svg(plot);
    EXPECT_NE(svg.find("&lt;&amp;&gt;"), std::string::npos);
    for (const char* label : {">1e0<", ">1e1<", ">1e2<", ">a<"}) EXPECT_NE(svg.find(label), std::string::npos) << label;
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at) ++lines;
    EXPECT_EQ(lines, 2u);  // on both sides of the missing number
    plot.curves[0].y = {-1, 0, none, -2};
    EXPECT_FALSE(can_be_drawn(plot));
    EXPECT_THROW(line_plot_svg(plot), InputError);
}

}  // namespace
}  // namespace vkf::test
