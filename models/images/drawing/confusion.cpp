#include "models/images/drawing/confusion.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "models/images/drawing/drawing.h"

namespace vkf {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole)
                     : std::numeric_limits<double>::quiet_NaN();
}

std::string percent(double share) {
    return std::isnan(share) ? "-" : text(std::fixed, std::setprecision(1), 100 * share);
}

/// Positions and sizes of the picture's parts. Lengths hold from left to right and from top to bottom, except for
/// numbers.
struct Layout {
    bool numbers;   // true if counts and recall are shown
    int scale;      // magnification of text
    int gap;        // between parts of the picture
    int names;      // room for the longest name; 0: no names
    int left, top;  // corner of the cells
    int cell;       // distance from one cell to the next
    int line;       // gap between cells
    int side;       // side of all cells together
    int legend;     // left edge of the legend
    int width, height;

    Layout(std::span<const std::string> classes, int title_width) {
        const int count = static_cast<int>(classes.size());
        numbers = count <= most_numbered;
        scale = numbers ? 2 : 1;
        gap = 6 * scale;
        names = 0;
        for (const std::string& name : classes) names = std::max(names, text_width(name, scale));
        names = count <= most_named ? std::min(names, 120 * scale) : 0;

        left = 2 * gap + text_height * scale + gap + (names > 0 ? names + gap : 0);
        top = left + text_height * title_scale + 2 * gap;
        const int recall = numbers ? recall_width() + gap : 0;
        const int beside = gap + recall + legend_width() + 2 * gap;
        const int room = Image::longest_side - std::max(left + beside, top + 2 * gap);
        cell = std::clamp(room / count, 1, numbers ? 54 : 14);
        line = numbers ? 2 : 0;  // lines between many cells would outshine them
        side = count * cell - line;
        legend = left + side + gap + recall;
        width = std::max(left + side + beside, title_width + 4 * gap);
        height = top + side + 2 * gap;
    }

    int recall_width() const { return text_width(recall_title, scale); }
    int legend_width() const { return 2 * gap + gap / 2 + text_width("100 %", scale); }
    int at(std::size_t i) const { return static_cast<int>(i) * cell; }

    static constexpr int title_scale = 2;
    static constexpr int most_numbered = 20, most_named = 300;  // classes
    static constexpr std::string_view recall_title = "recall %";
};

class Drawing {
public:
    Drawing(const ConfusionMatrix& matrix, std::span<const std::string> names, const std::string& title)
        : matrix_(matrix),
          names_(names),
          at_(names, text_width(title, Layout::title_scale)),
          image_(at_.width, at_.height, paper) {
        draw_text(image_, title, 2 * at_.gap, 2 * at_.gap, ink, Layout::title_scale);
        draw_cells();
        draw_axes();
        if (at_.names > 0) draw_names();
        if (at_.numbers) draw_recall();
        draw_legend();
    }

    Image take() { return std::move(image_); }

private:
    void draw_cells() {
        const int size = at_.cell - at_.line;
        for (std::size_t row = 0; row < names_.size(); ++row) {
            const std::uint64_t images = matrix_.count(row);
            for (std::size_t column = 0; column < names_.size(); ++column) {
                const std::uint64_t count = matrix_.count(row, column);
                const Rgb colour = scale_colour(share(count, images));
                const Box box{at_.left + at_.at(column), at_.top + at_.at(row), size, size};
                fill_box(image_, box, colour);
                const std::string number = std::to_string(count);
                if (!at_.numbers || count == 0) continue;
                const int scale = text_width(number, at_.scale) <= size - 4 ? at_.scale : 1;
                if (text_width(number, scale) <= size)
                    draw_text_in(image_, number, box, lightness(colour) < 50 ? paper : Rgb{}, scale);
            }
        }
    }

    void draw_axes() {
        const int middle = at_.side / 2;
        const std::string_view across = "predicted", down = "true";
        draw_text(image_, across, at_.left + middle - text_width(across, at_.scale) / 2,
                  4 * at_.gap + text_height * Layout::title_scale, faint_ink, at_.scale);
        draw_text(image_, down, 2 * at_.gap, at_.top + middle + text_width(down, at_.scale) / 2, faint_ink, at_.scale,
                  Reading::up);
    }

    /// Draws names next to rows and, rotated, above columns.
    void draw_names() {
        const int inset = (at_.cell - at_.line - capital_height * at_.scale) / 2;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const std::string name = fit_text(names_[i], at_.names, at_.scale);
            draw_text(image_, name, at_.left - at_.gap - text_width(name, at_.scale), at_.top + at_.at(i) + inset, ink,
                      at_.scale);
            draw_text(image_, name, at_.left + at_.at(i) + inset, at_.top - at_.gap, ink, at_.scale, Reading::up);
        }
    }

    void draw_recall() {
        const int left = at_.left + at_.side + at_.gap, width = at_.recall_width();
        const int height = text_height * at_.scale;
        draw_text(image_, Layout::recall_title, left, at_.top - at_.gap - height, faint_ink, at_.scale);
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (matrix_.count(i) > 0)
                draw_text_in(image_, percent(matrix_.recall(i)),
                             {left, at_.top + at_.at(i), width, at_.cell - at_.line}, ink, at_.scale);
    }

    /// Draws the colours from a share of 100 % at the top to 0.
    void draw_legend() {
        const int left = at_.legend, width = at_.gap * 2, numbers = left + width + at_.gap / 2;
        for (int y = 0; y < at_.side; ++y)
            fill_box(image_, {left, at_.top + y, width, 1},
                     scale_colour(1 - static_cast<double>(y) / std::max(at_.side - 1, 1)));
        for (const int mark : {100, 50, 0}) {
            if (mark == 50 && at_.side < 4 * text_height * at_.scale) continue;
            const int y = (at_.side - capital_height * at_.scale) * (100 - mark) / 100;
            draw_text(image_, text(mark, " %"), numbers, at_.top + y, faint_ink, at_.scale);
        }
    }

    const ConfusionMatrix& matrix_;
    std::span<const std::string> names_;
    Layout at_;
    Image image_;
};

}  // namespace

ConfusionMatrix::ConfusionMatrix(std::size_t classes) : classes_(classes), counts_(classes * classes) {
    require(classes > 0, "confusion: 0 classes, wanted at least 1");
}

void ConfusionMatrix::add(std::int64_t label, std::int64_t prediction) {
    const auto classes = static_cast<std::int64_t>(classes_);
    require(label >= 0 && label < classes && prediction >= 0 && prediction < classes, "confusion: label ", label,
            ", prediction ", prediction, ", wanted 0 to ", classes - 1);
    ++counts_[static_cast<std::size_t>(label * classes + prediction)];
}

std::uint64_t ConfusionMatrix::count(std::size_t label, std::size_t prediction) const {
    return counts_.at(label * classes_ + prediction);
}

std::uint64_t ConfusionMatrix::count(std::size_t label) const {
    std::uint64_t sum = 0;
    for (std::size_t prediction = 0; prediction < classes_; ++prediction) sum += count(label, prediction);
    return sum;
}

std::uint64_t ConfusionMatrix::count() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double ConfusionMatrix::recall(std::size_t label) const {
    return share(count(label, label), count(label));
}

double ConfusionMatrix::accuracy() const {
    std::uint64_t right = 0;
    for (std::size_t label = 0; label < classes_; ++label) right += count(label, label);
    return share(right, count());
}

Image draw_confusion(const ConfusionMatrix& matrix, std::span<const std::string> names, std::string_view title) {
    require(names.size() == matrix.classes(), "confusion: ", names.size(), " names, wanted ", matrix.classes());
    require(names.size() <= static_cast<std::size_t>(Image::longest_side), "confusion: ", names.size(),
            " classes, wanted at most ", Image::longest_side);
    const std::uint64_t images = matrix.count();
    const std::string result =
        images > 0 ? text("accuracy ", percent(matrix.accuracy()), " % of ", images, " images") : "no images";
    const std::string line = text(title, title.empty() ? "" : ": ", result);
    return Drawing(matrix, names, fit_text(line, Image::longest_side / 2, Layout::title_scale)).take();
}

}  // namespace vkf
