// Curves over a common axis, as an SVG picture that also suits dark pages.
#pragma once

#include <string>
#include <vector>

namespace vkf {

struct Curve {
    std::string name;
    std::vector<double> x, y;  // points in order of x; a y that is not finite interrupts the line
};

struct LinePlot {
    std::string title, x_label, y_label;
    bool log_y = false;  // values that are not positive interrupt the line
    std::vector<Curve> curves;
};

/// Draws the plot. A curve of many points is thinned to about 500. Throws InputError if no curve has a point to draw.
std::string line_plot_svg(const LinePlot& plot);

}  // namespace vkf
