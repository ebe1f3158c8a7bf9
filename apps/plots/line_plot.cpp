#include "apps/plots/line_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

constexpr double WIDTH = 800, HEIGHT = 440, LEFT = 76, RIGHT = 190, TOP = 36, BOTTOM = 50;  // pixels
constexpr std::array COLOURS{"#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d"};
constexpr std::size_t POINTS = 500;  // points of a curve that are drawn

struct Extent {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

    void include(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    double length() const { return high - low; }
    /// A range of one value gets a length.
    void widen() {
        if (low == high) low -= 0.5, high += 0.5;
    }
};

double tenths(double pixels) {
    return std::round(10 * pixels) / 10;
}

/// About five round numbers in the range.
std::vector<double> ticks(const Extent& range) {
    const double power = std::pow(10.0, std::floor(std::log10(range.length() / 5)));
    double step = 10 * power;
    for (const double k : {5.0, 2.0, 1.0})
        if (range.length() / (k * power) <= 6) step = k * power;
    std::vector<double> made;
    for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high + 1e-9 * step; ++i)
        made.push_back(i * step + 0.0);  // not −0
    return made;
}

class LineDrawing {
public:
    explicit LineDrawing(const LinePlot& plot) : plot_(plot) {
        for (const Curve& curve : plot.curves)
            for (std::size_t i = 0; i < curve.x.size(); ++i)
                if (const std::optional<double> y = height_of(curve.y[i])) {
                    x_.include(curve.x[i]);
                    y_.include(*y);
                }
        require(x_.low <= x_.high, "plot \"", plot.title, "\": no curve has a point that can be drawn");
        x_.widen();
        y_.widen();
    }

    std::string whole() {
        svg_ = text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", WIDTH, ' ', HEIGHT,
                    "\" font-family=\"sans-serif\" font-size=\"13\">\n",
                    "<style>.paper{fill:#fff}text{fill:#222}.rule{stroke:#ddd}@media(prefers-color-scheme:dark)"
                    "{.paper{fill:#111}text{fill:#ddd}.rule{stroke:#333}}</style>\n",
                    "<rect class=\"paper\" width=\"", WIDTH, "\" height=\"", HEIGHT, "\"/>\n");
        words(LEFT, TOP - 16, "font-weight=\"bold\"", plot_.title);
        axes();
        for (std::size_t i = 0; i < plot_.curves.size(); ++i) curve(i);
        return svg_ + "</svg>\n";
    }

private:
    /// Height of a value in the units of the axis; nothing if it cannot be drawn.
    std::optional<double> height_of(double value) const {
        if (!std::isfinite(value) || (plot_.log_y && value <= 0)) return std::nullopt;
        return plot_.log_y ? std::log10(value) : value;
    }
    double across(double x) const { return tenths(LEFT + (x - x_.low) / x_.length() * (WIDTH - LEFT - RIGHT)); }
    double down(double y) const { return tenths(TOP + (y_.high - y) / y_.length() * (HEIGHT - TOP - BOTTOM)); }

    void words(double x, double y, const std::string& attributes, const std::string& shown) {
        svg_ += text("<text x=\"", x, "\" y=\"", y, "\" ", attributes, '>', xml_text(shown), "</text>\n");
    }

    void axes() {
        for (const double y : ticks(y_)) {
            if (plot_.log_y && y != std::round(y)) continue;
            svg_ += text("<line class=\"rule\" x1=\"", LEFT, "\" x2=\"", WIDTH - RIGHT, "\" y1=\"", down(y), "\" y2=\"",
                         down(y), "\"/>\n");
            words(LEFT - 8, down(y) + 4, "text-anchor=\"end\"", plot_.log_y ? text("1e", y) : text(y));
        }
        for (const double x : ticks(x_)) words(across(x), HEIGHT - BOTTOM + 20, "text-anchor=\"middle\"", text(x));
        words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "text-anchor=\"middle\"", plot_.x_label);
        words(18, HEIGHT / 2, text("text-anchor=\"middle\" transform=\"rotate(-90 18 ", HEIGHT / 2, ")\""),
              plot_.y_label);
    }

    void curve(std::size_t number) {
        const Curve& drawn = plot_.curves[number];
        const char* colour = COLOURS[number % COLOURS.size()];
        const std::size_t stride = drawn.x.size() / POINTS + 1;
        std::string line;
        const auto finish = [&] {
            if (!line.empty())
                svg_ += text("<polyline points=\"", line, "\" fill=\"none\" stroke=\"", colour,
                             "\" stroke-width=\"2\" stroke-linecap=\"round\"/>\n");
            line.clear();
        };
        for (std::size_t i = 0; i < drawn.x.size(); ++i) {
            if (i % stride != 0 && i + 1 != drawn.x.size()) continue;
            const std::optional<double> y = height_of(drawn.y[i]);
            if (!y) {
                finish();
                continue;
            }
            line += text(line.empty() ? "" : " ", across(drawn.x[i]), ',', down(*y));
        }
        finish();
        const double row = TOP + 14 + 22 * static_cast<double>(number), start = WIDTH - RIGHT + 16;
        svg_ += text("<line x1=\"", start, "\" x2=\"", start + 24, "\" y1=\"", row, "\" y2=\"", row, "\" stroke=\"",
                     colour, "\" stroke-width=\"3\"/>\n");
        words(start + 30, row + 4, "", drawn.name);
    }

    const LinePlot& plot_;
    Extent x_, y_;
    std::string svg_;
};

}  // namespace

std::string line_plot_svg(const LinePlot& plot) {
    return LineDrawing(plot).whole();
}

}  // namespace vkf
