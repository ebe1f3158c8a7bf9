#include "models/families/position_grid.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// Old rows, or columns, that make up a new one, and their weights.
struct Blend {
    std::array<std::int64_t, 4> from;
    std::array<double, 4> weight;
};

double cubic_weight(double distance) {
    constexpr double a = -0.75;
    const double x = std::abs(distance);
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

Blend blend(std::int64_t index, std::int64_t old_side, std::int64_t side) {
    const double scale = static_cast<double>(old_side) / static_cast<double>(side);
    const double place = (static_cast<double>(index) + 0.5) * scale - 0.5, first = std::floor(place) - 1;
    Blend made;
    for (std::size_t k = 0; k < 4; ++k) {
        const double at = first + static_cast<double>(k);
        made.from[k] = std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, old_side - 1);
        made.weight[k] = cubic_weight(place - at);
    }
    return made;
}

}  // namespace

std::vector<float> resized_positions(std::span<const float> table, std::int64_t width, std::int64_t side) {
    const std::int64_t old = std::ssize(table) / width - 1;
    const auto old_side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(old))));
    require(std::ssize(table) == (old_side * old_side + 1) * width && old_side > 0 && side > 0, "a table of ",
            std::ssize(table), " numbers is not one of a square's positions in ", width, " channels");
    std::vector<float> made(table.begin(), table.begin() + width);
    for (std::int64_t i = 0; i < side; ++i)
        for (std::int64_t j = 0; j < side; ++j) {
            const Blend rows = blend(i, old_side, side), columns = blend(j, old_side, side);
            for (std::int64_t c = 0; c < width; ++c) {
                double sum = 0;
                for (std::size_t p = 0; p < 4; ++p)
                    for (std::size_t q = 0; q < 4; ++q) {
                        const std::int64_t token = 1 + rows.from[p] * old_side + columns.from[q];
                        sum += rows.weight[p] * columns.weight[q] *
                               static_cast<double>(table[static_cast<std::size_t>(token * width + c)]);
                    }
                made.push_back(static_cast<float>(sum));
            }
        }
    return made;
}

Tensor resized_positions(Tensor table, std::int64_t side) {
    const Shape shape = table.shape();
    const std::int64_t tokens = shape.rows(), made = side * side + 1;
    if (made == tokens) return table;
    // The map is linear: its matrix is its value for the identity.
    std::vector<float> identity(static_cast<std::size_t>(tokens * tokens));
    for (std::int64_t i = 0; i < tokens; ++i) identity[static_cast<std::size_t>(i * (tokens + 1))] = 1;
    const Tensor matrix = table.graph().constant({made, tokens}, resized_positions(identity, tokens, side));
    return reshape(matmul(matrix, reshape(table, {tokens, shape.width()})), {1, made, shape.width()});
}

}  // namespace vkf
