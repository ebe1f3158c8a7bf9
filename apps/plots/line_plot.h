// Curves over a common axis, as an SVG picture that also suits dark pages.
#pragma once

#include <string>
#include <vector>

namespace vkf {

struct Curve {
    std::string name;                 // in the legend; "": not listed
    std::vector<double> x, y;         // points in order of x, whole numbers; a y that is not finite interrupts the line
    std::vector<double> spread = {};  // half the height of a band around y, or nothing
    int colour = -1;                  // number of the colour; −1: the curve's place in the plot
    bool faint = false;               // thin and pale, for noisy curves behind others
};

struct LinePlot {
    std::string title, x_label, y_label;
    bool log_y = false;  // values that are not positive interrupt the line
    std::vector<Curve> curves;
};

/// Draws the plot. A curve of many points is thinned to about 500. Throws InputError if no curve has a point to draw.
std::string line_plot_svg(const LinePlot& plot);

/// True if line_plot_svg() has a point to draw.
bool can_be_drawn(const LinePlot& plot);

}  // namespace vkf
