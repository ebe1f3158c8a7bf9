#include "apps/plots/line_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

constexpr double WIDTH = 560, LEFT = 76, RIGHT = 20, TOP = 40, PLOT = 250, AXIS = 54, ROW = 22;  // pixels
constexpr double LETTER = 8.2;                                                                   // width of a letter
constexpr std::array COLOURS{"#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#eeca3b"};
constexpr std::size_t POINTS = 500;  // points of a curve that are drawn

struct Extent {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

    void include(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool empty() const { return !(low <= high); }
    double length() const { return high - low; }
    /// Gives an extent of one value a length, and others a margin.
    void widen(double margin) {
        const double by = low == high ? std::max(0.5, 0.1 * std::abs(low)) : margin * length();
        low -= by;
        high += by;
    }
};

double tenths(double pixels) {
    return std::round(10 * pixels) / 10;
}

/// Distance between about five round numbers in the extent; of whole numbers at least 1.
double tick_distance(const Extent& extent, bool whole = false) {
    const double power = std::pow(10.0, std::floor(std::log10(extent.length() / 5)));
    double step = 10 * power;
    for (const double k : {5.0, 2.0, 1.0})
        if (extent.length() / (k * power) <= 6) step = k * power;
    return whole ? std::max(1.0, step) : step;
}

std::vector<double> ticks(const Extent& extent, double step) {
    std::vector<double> made;
    for (double i = std::ceil(extent.low / step - 1e-9); i * step <= extent.high + 1e-9 * step; ++i)
        made.push_back(i * step + 0.0);  // not −0
    return made;
}

/// A tick's number with as many digits as its distance to the next needs: 1.5, 40000, 40 k, 2e-05.
std::string tick_text(double value, double step) {
    if (value != 0 && std::abs(value) < 1e-3) return text(value);
    if (step >= 1000) return text(value / 1000, value == 0 ? "" : " k");
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.*f", std::max(0, static_cast<int>(-std::floor(std::log10(step)))), value);
    return digits;
}

/// Number of characters of a text in UTF-8.
std::ptrdiff_t characters(const std::string& shown) {
    return std::ranges::count_if(shown, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; });
}

class LineDrawing {
public:
    explicit LineDrawing(const LinePlot& plot) : plot_(plot) {
        for (const Curve& curve : plot.curves)
            for (std::size_t i = 0; i < curve.x.size(); ++i) {
                if (!height_of(curve.y[i])) continue;
                x_.include(curve.x[i]);
                for (const double side : {-1.0, 1.0})
                    if (const auto y = height_of(curve.y[i] + side * spread(curve, i))) y_.include(*y);
            }
    }
    bool empty() const { return x_.empty(); }

    std::string whole() {
        require(!empty(), "plot \"", plot_.title, "\": no curve has a point that can be drawn");
        if (x_.length() == 0) x_.widen(0);
        y_.widen(0.03);
        std::string inside = axes();
        for (std::size_t i = 0; i < plot_.curves.size(); ++i) inside += curve(i);
        const double legend_height = legend(inside), height = TOP + PLOT + AXIS + legend_height;
        return text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", WIDTH, ' ', height,
                    "\" font-family=\"sans-serif\" font-size=\"14\">\n",
                    "<style>.paper{fill:#fff}text{fill:#222}.rule{stroke:#ddd}@media(prefers-color-scheme:dark)"
                    "{.paper{fill:#16181c}text{fill:#ddd}.rule{stroke:#333}}</style>\n",
                    "<rect class=\"paper\" width=\"", WIDTH, "\" height=\"", height, "\"/>\n",
                    words(LEFT, TOP - 16, "font-weight=\"bold\"", plot_.title), inside, "</svg>\n");
    }

private:
    static double spread(const Curve& curve, std::size_t i) { return curve.spread.empty() ? 0.0 : curve.spread[i]; }
    const char* colour(std::size_t number) const {
        const int own = plot_.curves[number].colour;
        return COLOURS[(own < 0 ? number : static_cast<std::size_t>(own)) % COLOURS.size()];
    }

    /// Height of a value in the units of the axis; nothing if it cannot be drawn.
    std::optional<double> height_of(double value) const {
        if (!std::isfinite(value) || (plot_.log_y && value <= 0)) return std::nullopt;
        return plot_.log_y ? std::log10(value) : value;
    }
    double across(double x) const { return tenths(LEFT + (x - x_.low) / x_.length() * (WIDTH - LEFT - RIGHT)); }
    double down(double y) const { return tenths(TOP + (y_.high - y) / y_.length() * PLOT); }
    std::string point(double x, double y) const { return text(across(x), ',', down(y)); }

    static std::string words(double x, double y, const std::string& attributes, const std::string& shown) {
        return text("<text x=\"", x, "\" y=\"", y, "\" ", attributes, '>', xml_text(shown), "</text>\n");
    }

    /// Numbers on the vertical axis, by their heights.
    std::vector<std::pair<double, std::string>> heights() const {
        std::vector<std::pair<double, std::string>> made;
        if (!plot_.log_y) {
            const double step = tick_distance(y_);
            for (const double y : ticks(y_, step)) made.emplace_back(y, tick_text(y, step));
            return made;
        }
        const double step = tick_distance(y_, true);
        for (const double y : ticks(y_, step)) made.emplace_back(y, text("1e", y));
        if (made.size() > 1) return made;
        made.clear();  // less than two powers of ten: their multiples
        for (double power = std::floor(y_.low); power <= y_.high; ++power)
            for (const double k : {1.0, 2.0, 5.0})
                if (const double y = power + std::log10(k); y >= y_.low && y <= y_.high)
                    made.emplace_back(y, text(k * std::pow(10.0, power)));
        return made;
    }

    std::string axes() const {
        std::string made;
        const double middle = (LEFT + WIDTH - RIGHT) / 2, step_x = tick_distance(x_, true);
        for (const auto& [y, shown] : heights())
            made += text("<line class=\"rule\" x1=\"", LEFT, "\" x2=\"", WIDTH - RIGHT, "\" y1=\"", down(y), "\" y2=\"",
                         down(y), "\"/>\n", words(LEFT - 8, down(y) + 5, "text-anchor=\"end\"", shown));
        for (const double x : ticks(x_, step_x))
            made += words(across(x), TOP + PLOT + 20, "text-anchor=\"middle\"", tick_text(x, step_x));
        made += words(middle, TOP + PLOT + 40, "text-anchor=\"middle\"", plot_.x_label);
        const double half = TOP + PLOT / 2;
        return made +
               words(16, half, text("text-anchor=\"middle\" transform=\"rotate(-90 16 ", half, ")\""), plot_.y_label);
    }

    /// Band and line of a curve.
    std::string curve(std::size_t number) const {
        const Curve& drawn = plot_.curves[number];
        const std::size_t stride = drawn.x.size() / POINTS + 1;
        std::string made, line, above, below;
        const auto finish = [&] {
            if (!above.empty())
                made +=
                    text("<polygon points=\"", above, below, "\" fill=\"", colour(number), "\" opacity=\"0.2\"/>\n");
            if (!line.empty())
                made += text("<polyline points=\"", line, "\" fill=\"none\" stroke=\"", colour(number),
                             "\" stroke-width=\"", drawn.faint ? "1\" opacity=\"0.35" : "2",
                             "\" stroke-linejoin=\"round\"/>\n");
            line.clear(), above.clear(), below.clear();
        };
        for (std::size_t i = 0; i < drawn.x.size(); ++i) {
            if (i % stride != 0 && i + 1 != drawn.x.size()) continue;
            const std::optional<double> y = height_of(drawn.y[i]);
            if (!y) {
                finish();
                continue;
            }
            line += point(drawn.x[i], *y) + ' ';
            if (drawn.spread.empty()) continue;
            above += point(drawn.x[i], height_of(drawn.y[i] + drawn.spread[i]).value_or(*y)) + ' ';
            below = point(drawn.x[i], height_of(drawn.y[i] - drawn.spread[i]).value_or(*y)) + ' ' + below;
        }
        finish();
        return made;
    }

    /// Adds the legend below the plot, in as many columns as there is room for; returns its height.
    double legend(std::string& svg) const {
        std::ptrdiff_t longest = 0;
        for (const Curve& each : plot_.curves) longest = std::max(longest, characters(each.name));
        const double column = 44 + LETTER * static_cast<double>(longest);
        const auto columns = std::max(1, static_cast<int>((WIDTH - LEFT) / column));
        int shown = 0;
        for (std::size_t i = 0; i < plot_.curves.size(); ++i) {
            if (plot_.curves[i].name.empty()) continue;
            const double x = LEFT + column * (shown % columns), y = TOP + PLOT + AXIS + ROW * (shown / columns) + 4;
            svg += text("<line x1=\"", x, "\" x2=\"", x + 22, "\" y1=\"", y, "\" y2=\"", y, "\" stroke=\"", colour(i),
                        "\" stroke-width=\"3\"/>\n", words(x + 28, y + 4, "", plot_.curves[i].name));
            ++shown;
        }
        return ROW * ((shown + columns - 1) / columns);
    }

    const LinePlot& plot_;
    Extent x_, y_;
};

}  // namespace

std::string line_plot_svg(const LinePlot& plot) {
    return LineDrawing(plot).whole();
}

bool can_be_drawn(const LinePlot& plot) {
    return !LineDrawing(plot).empty();
}

}  // namespace vkf
