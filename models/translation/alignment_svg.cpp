#include "models/translation/alignment_svg.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

constexpr double CELL = 20, LETTER = 7.4, GAP = 8, HEADING = 24;  // pixels; LETTER is a character's width

/// Room for the longest of these texts.
double room(const std::vector<std::string>& texts) {
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; };  // a character
    std::ptrdiff_t most = 1;
    for (const std::string& each : texts) most = std::max(most, std::ranges::count_if(each, begins));
    return static_cast<double>(most) * LETTER + 2 * GAP;
}

class AlignmentDrawing {
public:
    explicit AlignmentDrawing(const Alignment& alignment)
        : alignment_(alignment),
          left_(room(alignment.target)),
          top_(room(alignment.source) + (alignment.layers.size() > 1 ? HEADING : 0)) {}

    std::string whole() {
        const double table = CELL * static_cast<double>(alignment_.source.size()) + GAP;
        const double width = left_ + table * static_cast<double>(alignment_.layers.size()) + GAP;
        const double height = top_ + CELL * static_cast<double>(alignment_.target.size()) + GAP;
        svg_ = text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                    "\" viewBox=\"0 0 ", width, ' ', height, "\" font-family=\"monospace\" font-size=\"12\">\n",
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
        for (std::size_t t = 0; t < alignment_.target.size(); ++t)
            words(left_ - GAP, middle(top_, t), "text-anchor=\"end\"", alignment_.target[t]);
        for (std::size_t i = 0; i < alignment_.layers.size(); ++i) layer(i, left_ + table * static_cast<double>(i));
        return svg_ + "</svg>\n";
    }

private:
    static double middle(double from, std::size_t i) { return from + CELL * (static_cast<double>(i) + 0.5); }

    void words(double x, double y, const std::string& attributes, const std::string& shown) {
        svg_ += text("<text x=\"", x, "\" y=\"", y, "\" dy=\".35em\" ", attributes, '>', xml_text(shown), "</text>\n");
    }

    void layer(std::size_t i, double left) {
        if (alignment_.layers.size() > 1) words(left, HEADING / 2, "font-weight=\"bold\"", text("layer ", i + 1));
        const std::size_t columns = alignment_.source.size();
        for (std::size_t s = 0; s < columns; ++s) {
            const double x = middle(left, s), y = top_ - GAP;
            words(x, y, text("transform=\"rotate(-90 ", x, ' ', y, ")\""), alignment_.source[s]);
        }
        for (std::size_t t = 0; t < alignment_.target.size(); ++t)
            for (std::size_t s = 0; s < columns; ++s) {
                const double weight = static_cast<double>(alignment_.layers[i][t * columns + s]);
                svg_ += text("<rect x=\"", left + CELL * static_cast<double>(s), "\" y=\"",
                             top_ + CELL * static_cast<double>(t), "\" width=\"", CELL, "\" height=\"", CELL,
                             "\" stroke=\"#ddd\" fill=\"#1f4e79\" fill-opacity=\"",
                             std::round(1000 * std::clamp(weight, 0.0, 1.0)) / 1000, "\"><title>",
                             xml_text(alignment_.target[t]), " reads ", xml_text(alignment_.source[s]), ": ",
                             std::round(1000 * weight) / 1000, "</title></rect>\n");
            }
    }

    const Alignment& alignment_;
    double left_, top_;
    std::string svg_;
};

}  // namespace

std::string alignment_svg(const Alignment& alignment) {
    for (const AlignmentWeights& layer : alignment.layers)
        require(layer.size() == alignment.source.size() * alignment.target.size(), "an alignment of ",
                alignment.source.size(), " and ", alignment.target.size(), " tokens has ", layer.size(), " weights");
    return AlignmentDrawing(alignment).whole();
}

}  // namespace vkf
