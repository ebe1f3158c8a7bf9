#include "models/probes/attention_svg.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

constexpr double CELL = 20, LETTER = 7.4, GAP = 8, HEADING = 24;  // pixels; LETTER is a character's width

double pixels(std::size_t cells) {
    return CELL * static_cast<double>(cells);
}

/// Room for the longest of these texts.
double room(const std::vector<std::string>& texts) {
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; };  // a character
    std::ptrdiff_t most = 1;
    for (const std::string& each : texts) most = std::max(most, std::ranges::count_if(each, begins));
    return static_cast<double>(most) * LETTER + 2 * GAP;
}

class AttentionDrawing {
public:
    explicit AttentionDrawing(const AttentionTables& drawn)
        : drawn_(drawn),
          left_(room(drawn.rows)),
          titled_(std::ranges::any_of(drawn.tables, [](const AttentionTable& each) { return !each.title.empty(); })),
          top_(room(drawn.columns) + (titled_ ? HEADING : 0)) {}

    std::string whole() {
        const std::size_t across = std::min(drawn_.in_a_line, drawn_.tables.size());
        const std::size_t down = (drawn_.tables.size() + across - 1) / across;
        const double table = pixels(drawn_.columns.size()) + GAP, line = top_ + pixels(drawn_.rows.size()) + GAP;
        const double width = left_ + table * static_cast<double>(across) + GAP;
        const double height = line * static_cast<double>(down);
        svg_ = text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                    "\" viewBox=\"0 0 ", width, ' ', height, "\" font-family=\"monospace\" font-size=\"12\">\n",
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
        for (std::size_t i = 0; i < drawn_.tables.size(); ++i) {
            const double above = line * static_cast<double>(i / across);
            if (i % across == 0)
                for (std::size_t t = 0; t < drawn_.rows.size(); ++t)
                    words(left_ - GAP, middle(above + top_, t), "text-anchor=\"end\"", drawn_.rows[t]);
            table_at(drawn_.tables[i], left_ + table * static_cast<double>(i % across), above);
        }
        return svg_ + "</svg>\n";
    }

private:
    static double middle(double from, std::size_t i) { return from + CELL * (static_cast<double>(i) + 0.5); }

    void words(double x, double y, const std::string& attributes, const std::string& shown) {
        svg_ += text("<text x=\"", x, "\" y=\"", y, "\" dy=\".35em\" ", attributes, '>', xml_text(shown), "</text>\n");
    }

    /// Lines around all cells.
    void grid(double left, double top) {
        const double width = pixels(drawn_.columns.size()), height = pixels(drawn_.rows.size());
        svg_ += "<path stroke=\"#ddd\" d=\"";
        for (std::size_t s = 0; s <= drawn_.columns.size(); ++s)
            svg_ += text('M', left + pixels(s), ' ', top, 'v', height);
        for (std::size_t t = 0; t <= drawn_.rows.size(); ++t) svg_ += text('M', left, ' ', top + pixels(t), 'h', width);
        svg_ += "\"/>\n";
    }

    void table_at(const AttentionTable& table, double left, double above) {
        if (titled_) words(left, above + HEADING / 2, "font-weight=\"bold\"", table.title);
        const std::size_t columns = drawn_.columns.size();
        const double top = above + top_;
        for (std::size_t s = 0; s < columns; ++s) {
            const double x = middle(left, s), y = top - GAP;
            words(x, y, text("transform=\"rotate(-90 ", x, ' ', y, ")\""), drawn_.columns[s]);
        }
        grid(left, top);
        for (std::size_t t = 0; t < drawn_.rows.size(); ++t)
            for (std::size_t s = 0; s < columns; ++s) {
                const double weight = static_cast<double>(table.weights[t * columns + s]);
                const double shown = std::round(1000 * std::clamp(weight, 0.0, 1.0)) / 1000;
                if (shown == 0) continue;
                svg_ += text("<rect x=\"", left + pixels(s), "\" y=\"", top + pixels(t), "\" width=\"", CELL,
                             "\" height=\"", CELL, "\" fill=\"#1f4e79\" fill-opacity=\"", shown, "\"><title>",
                             xml_text(drawn_.rows[t]), " reads ", xml_text(drawn_.columns[s]), ": ", shown,
                             "</title></rect>\n");
            }
    }

    const AttentionTables& drawn_;
    double left_;
    bool titled_;
    double top_;
    std::string svg_;
};

}  // namespace

std::string attention_svg(const AttentionTables& tables) {
    for (const AttentionTable& table : tables.tables)
        require(table.weights.size() == tables.columns.size() * tables.rows.size(), "a table of attention between ",
                tables.rows.size(), " and ", tables.columns.size(), " tokens has ", table.weights.size(), " weights");
    return AttentionDrawing(tables).whole();
}

}  // namespace vkf
