#include "models/images/drawing/attention_map.h"

#include <algorithm>
#include <cmath>
#include <glm/glm.hpp>

#include "base/error.h"
#include "models/images/drawing/drawing.h"

namespace vkf {

namespace {

constexpr double OPACITY = 0.6;  // share of the colours over the image

/// Position of a point between the centres of n cells along a side: the cell before, the cell after, and the share of
/// the way.
struct Between {
    std::size_t low, high;
    double share;
};

Between between(double at, std::size_t n) {
    const double centre = std::clamp(at * static_cast<double>(n) - 0.5, 0.0, static_cast<double>(n - 1));
    const auto low = static_cast<std::size_t>(centre);
    return {low, std::min(low + 1, n - 1), centre - static_cast<double>(low)};
}

}  // namespace

Image overlay(const Image& image, std::span<const double> map) {
    const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(map.size()))));
    require(n > 0 && n * n == map.size(), "a map of ", map.size(), " patches is no square");
    const auto [least, most] = std::ranges::minmax(map);
    const double range = most > least ? most - least : 1;
    Image made(image.width(), image.height());
    for (int y = 0; y < made.height(); ++y)
        for (int x = 0; x < made.width(); ++x) {
            const Between row = between((y + 0.5) / made.height(), n), column = between((x + 0.5) / made.width(), n);
            const auto along = [&](std::size_t line) {
                return std::lerp(map[line * n + column.low], map[line * n + column.high], column.share);
            };
            const double value = (std::lerp(along(row.low), along(row.high), row.share) - least) / range;
            const Rgb colour = scale_colour(value);
            made.at(x, y) = Rgb(glm::round(glm::mix(glm::dvec3(image.at(x, y)), glm::dvec3(colour), OPACITY)));
        }
    return made;
}

}  // namespace vkf
