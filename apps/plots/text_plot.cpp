#include "apps/plots/text_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "base/error.h"

namespace vkf {

namespace {

constexpr std::size_t LABEL = 9;  // characters of the numbers at the left

/// Rectangle of dots.
class Dots {
public:
    Dots(std::size_t columns, std::size_t rows) : columns_(columns), cells_(columns * rows) {}

    std::size_t width() const { return 2 * columns_; }
    std::size_t height() const { return 4 * (cells_.size() / columns_); }
    void set(std::size_t x, std::size_t y) {
        // Bits of a braille pattern, by column and row of its dots (Unicode 15, block U+2800).
        constexpr std::uint8_t BITS[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
        cells_[y / 4 * columns_ + x / 2] |= BITS[x % 2][y % 4];
    }
    /// A line of characters in UTF-8.
    std::string row(std::size_t row) const {
        std::string made;
        for (std::size_t c = 0; c < columns_; ++c) {
            const unsigned code = 0x2800u + cells_[row * columns_ + c];
            for (const unsigned byte : {0xe0u | code >> 12, 0x80u | (code >> 6 & 0x3fu), 0x80u | (code & 0x3fu)})
                made += static_cast<char>(byte);
        }
        return made;
    }

private:
    std::size_t columns_;
    std::vector<std::uint8_t> cells_;
};

struct Axis {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

    void include(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    /// Number of the dot for a value, of so many.
    std::size_t dot(double value, std::size_t count) const {
        const double share = high > low ? (value - low) / (high - low) : 0.5;
        return static_cast<std::size_t>(std::lround(share * static_cast<double>(count - 1)));
    }
};

std::string label(double value) {
    char words[32];
    std::snprintf(words, sizeof words, "%8.4g ", value);
    return words;
}

}  // namespace

std::string text_plot(const std::vector<TextCurve>& curves, std::size_t columns, std::size_t rows) {
    require(columns >= 24 && rows >= 2, "a plot of ", columns, " columns and ", rows, " rows: wanted 24 and 2");
    Axis x, y;
    for (const TextCurve& curve : curves)
        for (std::size_t i = 0; i < curve.x.size(); ++i)
            if (std::isfinite(curve.y[i])) x.include(curve.x[i]), y.include(curve.y[i]);
    require(x.low <= x.high, "a plot of curves without points");

    Dots dots(columns - LABEL, rows);
    const auto place = [&](double at_x, double at_y, bool heavy) {
        const std::size_t column = x.dot(at_x, dots.width()), row = dots.height() - 1 - y.dot(at_y, dots.height());
        dots.set(column, row);
        if (heavy) dots.set(column, row > 0 ? row - 1 : row + 1);
    };
    for (const TextCurve& curve : curves)
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!std::isfinite(curve.y[i])) continue;
            const bool heavy = &curve == &curves.front();
            place(curve.x[i], curve.y[i], heavy);
            if (i == 0 || !std::isfinite(curve.y[i - 1])) continue;
            const double from = curve.x[i - 1];
            const double dots_between =
                static_cast<double>(x.dot(curve.x[i], dots.width())) - static_cast<double>(x.dot(from, dots.width()));
            for (double k = 1; k < dots_between; ++k) {  // a line between points that are far apart
                const double share = k / dots_between;
                place(from + share * (curve.x[i] - from), curve.y[i - 1] + share * (curve.y[i] - curve.y[i - 1]),
                      heavy);
            }
        }

    std::string made;
    for (std::size_t row = 0; row < rows; ++row)
        made += (row == 0          ? label(y.high)
                 : row + 1 == rows ? label(y.low)
                                   : std::string(LABEL, ' ')) +
                dots.row(row) + '\n';
    const std::string first = text(x.low), last = text(x.high);
    const std::size_t between = columns - LABEL - std::min(columns - LABEL, first.size() + last.size());
    made += std::string(LABEL, ' ') + first + std::string(between, ' ') + last + '\n';
    std::string names;
    for (const TextCurve& curve : curves)
        names += (names.empty() ? "" : ", ") + curve.name + (&curve == &curves.front() ? " (heavy)" : "");
    return made + std::string(LABEL, ' ') + names + '\n';
}

}  // namespace vkf
