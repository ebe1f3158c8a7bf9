#include "models/images/drawing/drawing.h"

#include <stb/stb_easy_font.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <glm/glm.hpp>

#include "base/error.h"

namespace vkf {
namespace {

using glm::dvec3;
using Wide = std::int64_t;  // for values that begin as an int and are magnified

void require_scale(int scale) {
    require(scale >= 1, "drawing: scale ", scale, ", wanted at least 1");
}

void paint(Image& image, Wide left, Wide top, Wide width, Wide height, Rgb colour) {
    const int right = static_cast<int>(std::clamp<Wide>(left + width, 0, image.width()));
    const int bottom = static_cast<int>(std::clamp<Wide>(top + height, 0, image.height()));
    for (int y = static_cast<int>(std::clamp<Wide>(top, 0, bottom)); y < bottom; ++y)
        for (int x = static_cast<int>(std::clamp<Wide>(left, 0, right)); x < right; ++x) image.at(x, y) = colour;
}

// A character as a string for the font, which knows only ASCII and writes to its input.
struct Letter {
    explicit Letter(char c) : text{c >= ' ' && c <= '~' ? c : '?', '\0'} {}
    int advance() { return stb_easy_font_width(text); }
    char text[2];
};

constexpr int letter_gap = 2;  // part of every letter's advance

}  // namespace

void fill_box(Image& image, const Box& box, Rgb colour) {
    paint(image, box.left, box.top, box.width, box.height, colour);
}

void draw_image(Image& image, const Image& from, int x, int y, int scale) {
    require_scale(scale);
    const auto end = [scale](int start, int size, int limit) {
        return static_cast<int>(std::min(Wide{start} + Wide{size} * scale, Wide{limit}));
    };
    const int right = end(x, from.width(), image.width()), bottom = end(y, from.height(), image.height());
    const auto source = [scale](int to, int start) { return static_cast<int>((Wide{to} - start) / scale); };
    for (int to_y = std::max(y, 0); to_y < bottom; ++to_y)
        for (int to_x = std::max(x, 0); to_x < right; ++to_x)
            image.at(to_x, to_y) = from.at(source(to_x, x), source(to_y, y));
}

int text_width(std::string_view line, int scale) {
    int width = 0;
    for (const char c : line) width += Letter(c).advance();
    return std::max(width - letter_gap, 0) * scale;
}

std::string fit_text(std::string_view line, int width, int scale) {
    std::string shown(line);
    for (std::size_t kept = line.size(); kept > 0 && text_width(shown, scale) > width;)
        shown = std::string(line.substr(0, --kept)) + "..";
    return text_width(shown, scale) <= width ? shown : std::string();
}

void draw_text(Image& image, std::string_view line, int x, int y, Rgb colour, int scale, Reading reading) {
    require_scale(scale);
    struct Corner {
        float x, y, z;
        unsigned char colour[4];
    } corners[4 * 16];  // no letter has more than 11 bars
    Wide pen = 0;
    for (const char c : line) {
        Letter letter(c);
        const int bars = stb_easy_font_print(0, 0, letter.text, nullptr, corners, sizeof corners);
        for (int bar = 0; bar < bars; ++bar) {
            const Corner &from = corners[4 * bar], &to = corners[4 * bar + 2];
            const auto along = pen + static_cast<Wide>(from.x) * scale, across = static_cast<Wide>(from.y) * scale;
            const auto length = static_cast<Wide>(to.x - from.x) * scale,
                       thick = static_cast<Wide>(to.y - from.y) * scale;
            if (reading == Reading::right)
                paint(image, x + along, y + across, length, thick, colour);
            else
                paint(image, x + across, y - along - length, thick, length, colour);
        }
        pen += Wide{letter.advance()} * scale;
    }
}

void draw_text_in(Image& image, std::string_view line, const Box& box, Rgb colour, int scale) {
    const std::string shown = fit_text(line, box.width, scale);
    draw_text(image, shown, box.left + (box.width - text_width(shown, scale)) / 2,
              box.top + (box.height - capital_height * scale) / 2, colour, scale);
}

Rgb scale_colour(double value) {
    // Neighbours differ by about 15 in lightness, from 10 to 88.
    constexpr Rgb anchors[] = {{24, 18, 74},   {38, 58, 128},  {22, 108, 146},
                               {34, 156, 134}, {126, 196, 92}, {248, 222, 60}};
    const double at = (value > 0 ? std::min(value, 1.0) : 0.0) * static_cast<double>(std::size(anchors) - 1);
    const std::size_t below = std::min(static_cast<std::size_t>(at), std::size(anchors) - 2);
    const dvec3 low = anchors[below], high = anchors[below + 1];
    return Rgb(glm::round(low + (at - static_cast<double>(below)) * (high - low)));
}

double lightness(Rgb colour) {
    constexpr double weight[] = {0.2126, 0.7152, 0.0722};
    double luminance = 0;
    for (int c = 0; c < 3; ++c) {
        const double value = colour[c] / 255.0;
        luminance += weight[c] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
    }
    constexpr double knee = 6.0 / 29;
    return luminance > knee * knee * knee ? 116 * std::cbrt(luminance) - 16 : luminance * 116 / (3 * knee * knee);
}

}  // namespace vkf
