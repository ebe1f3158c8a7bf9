#include "models/attention/sinusoidal_positions.h"

#include <cmath>
#include <vector>

#include "base/error.h"

namespace vkf {

float sinusoidal_position(std::int64_t t, std::int64_t column, std::int64_t width, SinusoidLayout layout) {
    const std::int64_t sines = (width + 1) / 2;
    const bool halves = layout == SinusoidLayout::halves;
    const bool cosine = halves ? column >= sines : column % 2 != 0;
    const std::int64_t k = !halves ? column / 2 : cosine ? column - sines : column;
    const double exponent = static_cast<double>(2 * k) / static_cast<double>(width);
    const double angle = static_cast<double>(t) * std::pow(10000.0, -exponent);
    return static_cast<float>(cosine ? std::cos(angle) : std::sin(angle));
}

Tensor sinusoidal_positions(Graph& graph, std::int64_t positions, std::int64_t width, SinusoidLayout layout) {
    require(positions >= 1 && width >= 1, "cannot make sinusoidal positions [", positions, ", ", width,
            "], wanted sizes of 1 or more");
    std::vector<float> table;
    table.reserve(static_cast<std::size_t>(positions * width));
    for (std::int64_t t = 0; t < positions; ++t)
        for (std::int64_t column = 0; column < width; ++column)
            table.push_back(sinusoidal_position(t, column, width, layout));
    return graph.constant({positions, width}, table);
}

}  // namespace vkf
