#include "apps/bench/roofline.h"

#include <array>
#include <cmath>
#include <iomanip>
#include <set>

#include "base/text/xml.h"

namespace vkf {

namespace {

constexpr double WIDTH = 1000, HEIGHT = 640, LEFT = 70, RIGHT = 150, TOP = 64, BOTTOM = 56;
constexpr double RADIUS = 4.5, LETTER = 5.6, LINE = 11;  // LETTER and LINE: width and height of a label's text
constexpr double LEAST_INTENSITY = 1.0 / 32;             // measurements below only move memory
constexpr std::array COLOURS = {"#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#636363"};

struct Box {
    double left, top, right, bottom;

    bool meets(const Box& other) const {
        return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
};

/// Values from low to high on a logarithmic scale, in pixels.
struct Axis {
    double low, high, from, to;

    double at(double value) const { return from + (to - from) * std::log(value / low) / std::log(high / low); }
    /// Powers of 10 and, if `between`, 2 and 5 times each.
    std::vector<double> ticks(bool between) const {
        std::vector<double> made;
        for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10)
            for (const double step : {1.0, 2.0, 5.0})
                if ((step == 1 || between) && decade * step >= low && decade * step <= high)
                    made.push_back(decade * step);
        return made;
    }
};

struct Point {
    const Measurement* of;
    double intensity, rate;  // FLOPs per byte, GFLOP/s
};

/// Formats with three significant digits: "0.005", "14.5", "207".
std::string number(double value) {
    return text(std::setprecision(3), value);
}

class Drawing {
public:
    explicit Drawing(const BenchReport& report) : report_(report) {
        for (const Measurement& m : report.measurements) {
            if (m.flops < LEAST_INTENSITY * m.bytes || m.bytes <= 0) continue;
            points_.push_back({&m, m.flops / m.bytes, m.flops_per_second() * 1e-9});
            if (std::ranges::find(families_, m.family) == families_.end()) families_.push_back(m.family);
        }
        const double peak = report.peak.flops * 1e-9, ridge = report.peak.flops / report.peak.bytes;
        double left = ridge / 10, right = ridge * 10, bottom = peak / 10, top = peak;
        for (const auto& [element, flops] : report.peak.matrices) {
            top = std::max(top, flops * 1e-9);
            right = std::max(right, flops / report.peak.bytes * 2);
        }
        for (const Point& p : points_) {
            left = std::min(left, p.intensity), right = std::max(right, p.intensity);
            bottom = std::min(bottom, p.rate), top = std::max(top, p.rate);
        }
        x_ = {left / 1.6, right * 1.6, LEFT, WIDTH - RIGHT};
        y_ = {bottom / 1.6, top * 2, HEIGHT - BOTTOM, TOP};
    }

    std::string svg() {
        out_ = text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", WIDTH, ' ', HEIGHT,
                    "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<rect width=\"", WIDTH,
                    "\" height=\"", HEIGHT, "\" fill=\"white\"/>\n");
        write(LEFT, 26, report_.head.device, "font-size=\"17\" font-weight=\"bold\"");
        write(LEFT, 46, report_.head.driver + ", " + report_.head.date.substr(0, 10), "fill=\"#777\"");
        axes();
        roofs();
        legend();
        measurements();
        return out_ + "</svg>\n";
    }

private:
    void write(double x, double y, std::string_view words, std::string_view style = {}) {
        out_ +=
            text("<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" ", style, ">", xml_text(words), "</text>\n");
    }
    void line(double x1, double y1, double x2, double y2, std::string_view style) {
        out_ += text("<line x1=\"", fixed(x1, 1), "\" y1=\"", fixed(y1, 1), "\" x2=\"", fixed(x2, 1), "\" y2=\"",
                     fixed(y2, 1), "\" ", style, "/>\n");
    }

    void axes() {
        for (const bool between : {true, false}) {
            const std::string_view style = between ? "stroke=\"#f2f2f2\"" : "stroke=\"#dcdcdc\"";
            for (const double value : x_.ticks(between)) line(x_.at(value), y_.from, x_.at(value), y_.to, style);
            for (const double value : y_.ticks(between)) line(x_.from, y_.at(value), x_.to, y_.at(value), style);
        }
        for (const double value : x_.ticks(true))
            write(x_.at(value), y_.from + 18, number(value), "text-anchor=\"middle\" fill=\"#555\"");
        for (const double value : y_.ticks(true))
            write(x_.from - 8, y_.at(value) + 4, number(value), "text-anchor=\"end\" fill=\"#555\"");
        write((x_.from + x_.to) / 2, HEIGHT - 14, "FLOPs per byte", "text-anchor=\"middle\"");
        const double middle = (y_.from + y_.to) / 2;
        write(18, middle, "GFLOP/s",
              text("text-anchor=\"middle\" transform=\"rotate(-90 18 ", fixed(middle, 1), ")\""));
    }

    void roofs() {
        const double slope = report_.peak.bytes * 1e-9;
        roof(report_.peak.flops * 1e-9, slope, "");
        for (const auto& [element, flops] : report_.peak.matrices)
            roof(flops * 1e-9, slope, " by matrices of " + element);
    }

    /// Draws a level roof and the slope that leads to it; the first roof labels the slope.
    void roof(double peak, double slope, const std::string& name) {
        const double start = std::max(x_.low, y_.low / slope), ridge = peak / slope;
        out_ += text("<polyline points=\"", fixed(x_.at(start), 1), ',', fixed(y_.at(start * slope), 1), ' ',
                     fixed(x_.at(ridge), 1), ',', fixed(y_.at(peak), 1), ' ', fixed(x_.to, 1), ',',
                     fixed(y_.at(peak), 1), "\" fill=\"none\" stroke=\"#222\" stroke-width=\"2\"/>\n");
        write(x_.to - 6, y_.at(peak) - 8, number(peak) + " GFLOP/s" + name, "text-anchor=\"end\" font-weight=\"bold\"");
        taken_.push_back({x_.to - 110, y_.at(peak) - 22, x_.to, y_.at(peak) + 2});
        for (double x = x_.at(start); x < x_.at(ridge); x += RADIUS) {
            const double y = y_.at(start * slope) +
                             (x - x_.at(start)) * (y_.at(peak) - y_.at(start * slope)) / (x_.at(ridge) - x_.at(start));
            taken_.push_back({x, y - RADIUS, x + RADIUS, y + RADIUS});
        }
        if (!name.empty()) return;
        // The label runs along the slope, a little above it.
        const double at = std::sqrt(start * ridge);
        const double rise = std::atan2(y_.at(ridge * slope) - y_.at(start * slope), x_.at(ridge) - x_.at(start));
        const double px = x_.at(at), py = y_.at(at * slope) - 8;
        write(px, py, number(slope) + " GB/s",
              text("text-anchor=\"middle\" font-weight=\"bold\" transform=\"rotate(", fixed(rise * 57.29578, 1), ' ',
                   fixed(px, 1), ' ', fixed(py, 1), ")\""));
        taken_.push_back({px - 30, py - 30, px + 30, py + 24});
    }

    void legend() {
        for (std::size_t i = 0; i < families_.size(); ++i) {
            const double y = TOP + 8 + 22 * static_cast<double>(i);
            dot(WIDTH - RIGHT + 24, y, colour(families_[i]), {});
            write(WIDTH - RIGHT + 36, y + 4, families_[i]);
        }
    }

    void measurements() {
        for (const Point& p : points_) taken_.push_back(around(p));
        for (const Point& p : points_) {
            const Measurement& m = *p.of;
            dot(x_.at(p.intensity), y_.at(p.rate), colour(m.family),
                text(m.name, ' ', m.shape, ' ', m.layout, ": ", fixed(p.rate, 1), " GFLOP/s, ",
                     fixed(m.bytes_per_second() * 1e-9, 2), " GB/s, ", percent_text(m.share_of_peak(report_.peak)),
                     " of the roof"));
        }
        for (const Point& p : points_) label(p);
    }

    Box around(const Point& p) const {
        const double x = x_.at(p.intensity), y = y_.at(p.rate);
        return {x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS};
    }

    /// Writes the name right of the point, left, above or below, in the first free place; not at all if no place is
    /// free or the name is already written.
    void label(const Point& p) {
        const std::string& words = p.of->name;
        if (named_.contains(words)) return;
        const double width = LETTER * static_cast<double>(words.size()), gap = RADIUS + 2;
        const double x = x_.at(p.intensity), y = y_.at(p.rate);
        const std::array lefts{x + gap, x - gap - width, x - width / 2, x - width / 2};
        const std::array tops{y - LINE / 2, y - LINE / 2, y - gap - LINE, y + gap};
        for (std::size_t i = 0; i < lefts.size(); ++i) {
            const Box box{lefts[i], tops[i], lefts[i] + width, tops[i] + LINE};
            const bool inside = box.left > x_.from && box.right < x_.to && box.top > y_.to && box.bottom < y_.from;
            if (!inside || std::ranges::any_of(taken_, [&](const Box& other) { return box.meets(other); })) continue;
            taken_.push_back(box);
            named_.insert(words);
            return write(box.left, box.bottom - 2, words, "font-size=\"10.5\" fill=\"#555\"");
        }
    }

    void dot(double x, double y, std::string_view colour, std::string_view title) {
        out_ += text("<circle cx=\"", fixed(x, 1), "\" cy=\"", fixed(y, 1), "\" r=\"", RADIUS, "\" fill=\"", colour,
                     "\" fill-opacity=\"0.9\" stroke=\"white\"><title>", xml_text(title), "</title></circle>\n");
    }

    std::string_view colour(const std::string& family) const {
        return COLOURS[static_cast<std::size_t>(std::ranges::find(families_, family) - families_.begin()) %
                       COLOURS.size()];
    }

    const BenchReport& report_;
    std::vector<Point> points_;
    std::vector<std::string> families_;
    std::vector<Box> taken_;  // boxes that labels must not overlap
    std::set<std::string> named_;
    Axis x_{}, y_{};
    std::string out_;
};

}  // namespace

std::string roofline_svg(const BenchReport& report) {
    return Drawing(report).svg();
}

}  // namespace vkf
