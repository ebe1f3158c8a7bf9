// Operations that move pixels.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <glm/glm.hpp>
#include <numbers>

#include "base/error.h"
#include "models/images/augmentation/operations.h"

namespace vkf {
namespace {

using glm::dmat2, glm::dvec2, glm::dvec3, glm::ivec2;

/// Pixel (x, y) of the result is read at map · (x, y, 1).
using Affine = glm::dmat3x2;

/// Point at which the first pixel's centre is read, summed in PIL's order, which differs from the product's.
dvec2 first_point(const Affine& map) {
    return map[2] + map[0] * 0.5 + map[1] * 0.5;
}

/// 16.16 fixed point, rounded.
ivec2 fixed_point(dvec2 v) {
    return ivec2(glm::floor(v * 65536.0 + 0.5));
}

bool contains(const Image& image, ivec2 at) {
    return at.x >= 0 && at.x < image.width() && at.y >= 0 && at.y < image.height();
}

/// Nearest pixel for maps without rotation: coordinates are summed in double, pixel by pixel.
void resample_upright(Image& image, const Affine& map, Rgb fill) {
    image.prepare_spare(fill);
    const dvec2 first = first_point(map);
    double y_from = first.y;
    for (int y = 0; y < image.height(); ++y, y_from += map[1].y) {
        if (y_from < 0 || y_from >= image.height()) continue;
        const int row = static_cast<int>(y_from);
        double x_from = first.x;
        for (int x = 0; x < image.width(); ++x, x_from += map[0].x) {
            if (x_from < 0 || x_from >= image.width()) continue;
            image.spare_at(x, y) = image.at(static_cast<int>(x_from), row);
        }
    }
    image.take_spare();
}

void resample_nearest(Image& image, const Affine& map, Rgb fill) {
    if (map[1].x == 0 && map[0].y == 0) return resample_upright(image, map, fill);
    const ivec2 along_x = fixed_point(map[0]), along_y = fixed_point(map[1]);
    ivec2 line = fixed_point(first_point(map));
    image.prepare_spare(fill);
    for (int y = 0; y < image.height(); ++y, line += along_y) {
        ivec2 from = line;
        for (int x = 0; x < image.width(); ++x, from += along_x) {
            const ivec2 pixel = from >> 16;
            if (contains(image, pixel)) image.spare_at(x, y) = image.at(pixel.x, pixel.y);
        }
    }
    image.take_spare();
}

/// Position of four taps along one axis, and distance of the point from the second tap.
struct Taps {
    int first = 0;
    double past = 0.0;
};

Taps taps_at(double from) {
    const double corner = from - 0.5;
    const int whole = static_cast<int>(std::floor(corner));
    return {whole - 1, corner - whole};
}

/// The cubic through four neighbouring values, summed in PIL's order.
template <class Value>
double cubic(Value a, Value b, Value c, Value d, double past) {
    const double p2 = -a + c;
    const double p3 = 2 * (a - b) + c - d;
    const double p4 = -a + b - c + d;
    return b + past * (p2 + past * (p3 + past * p4));
}

/// Truncated as PIL does, so 254.99 is 254.
std::uint8_t truncated(double v) {
    return static_cast<std::uint8_t>(std::clamp(v, 0.0, 255.0));
}

/// Bicubic resampling along an axis, 0 for x. Along the other axis points are pixel centres, at which the cubic is the
/// pixel itself.
template <int axis>
void resample_bicubic_along(Image& image, const Affine& map, Rgb fill) {
    const int size = axis == 0 ? image.width() : image.height();
    image.prepare_spare(fill);
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const double from = (map * dvec3(x + 0.5, y + 0.5, 1))[axis];
            if (from < 0.0 || from >= size) continue;
            const Taps taps = taps_at(from);
            const auto tap = [&](int i) {
                ivec2 pixel(x, y);
                pixel[axis] = std::clamp(taps.first + i, 0, size - 1);
                return image.at(pixel.x, pixel.y);
            };
            const Rgb a = tap(0), b = tap(1), c = tap(2), d = tap(3);
            const auto channel = [&](int i) { return truncated(cubic<int>(a[i], b[i], c[i], d[i], taps.past)); };
            image.spare_at(x, y) = {channel(0), channel(1), channel(2)};
        }
    }
    image.take_spare();
}

/// Bicubic resampling along both axes: cubics of four rows, then the cubic of these.
void resample_bicubic(Image& image, const Affine& map, Rgb fill) {
    image.prepare_spare(fill);
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const dvec2 from = map * dvec3(x + 0.5, y + 0.5, 1);
            if (from.x < 0 || from.x >= image.width() || from.y < 0 || from.y >= image.height()) continue;
            const Taps across = taps_at(from.x), down = taps_at(from.y);
            std::array<int, 4> columns;
            std::array<dvec3, 4> rows;
            for (int i = 0; i < 4; ++i)
                columns[static_cast<std::size_t>(i)] = std::clamp(across.first + i, 0, image.width() - 1);
            for (int i = 0; i < 4; ++i) {
                const int row = std::clamp(down.first + i, 0, image.height() - 1);
                const auto [a, b, c, d] = columns;
                for (int k = 0; k < CHANNELS; ++k)
                    rows[static_cast<std::size_t>(i)][k] =
                        cubic<int>(image.at(a, row)[k], image.at(b, row)[k], image.at(c, row)[k], image.at(d, row)[k],
                                   across.past);
            }
            for (int k = 0; k < CHANNELS; ++k)
                image.spare_at(x, y)[k] = truncated(cubic(rows[0][k], rows[1][k], rows[2][k], rows[3][k], down.past));
        }
    }
    image.take_spare();
}

/// Resamples by a map that moves points along one axis only.
template <int axis>
void resample_along(Image& image, const Affine& map, Resampling resampling, Rgb fill) {
    if (resampling == Resampling::bicubic) return resample_bicubic_along<axis>(image, map, fill);
    resample_nearest(image, map, fill);
}

void check_distance(double pixels) {
    require(std::isfinite(pixels), "image: translation by ", pixels, " pixels, wanted a number");
}

void check_shear(double amount) {
    require(std::abs(amount) <= 4, "image: shear by ", amount, ", wanted -4 to 4");
}

/// Rounds to 15 decimal places, decimally exact as Python does.
double rounded(double v) {
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v, std::chars_format::fixed, 15).ptr;
    std::from_chars(digits.data(), end, v);
    return v;
}

void half_turn(Image& image) {
    image.prepare_spare();
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            image.spare_at(image.width() - 1 - x, image.height() - 1 - y) = image.at(x, y);
        }
    }
    image.take_spare();
}

void quarter_turn(Image& image, bool left) {
    const int last = image.width() - 1;
    image.prepare_spare();
    for (int y = 0; y <= last; ++y) {
        for (int x = 0; x <= last; ++x) {
            (left ? image.spare_at(y, last - x) : image.spare_at(last - y, x)) = image.at(x, y);
        }
    }
    image.take_spare();
}

}  // namespace

void flip(Image& image) {
    for (int y = 0; y < image.height(); ++y) {
        Rgb* const line = &image.at(0, y);
        std::reverse(line, line + image.width());
    }
}

void crop(Image& image, int left, int top, int width, int height, Rgb fill) {
    require(std::abs(left) <= 4096 && std::abs(top) <= 4096, "image: crop at (", left, ", ", top,
            "), wanted -4096 to 4096");
    image.prepare_spare(width, height, fill);
    const int first = std::max(0, -left), end = std::min(width, image.width() - left);
    for (int y = std::max(0, -top); y < std::min(height, image.height() - top) && first < end; ++y) {
        std::copy_n(&image.at(left + first, top + y), end - first, &image.spare_at(first, y));
    }
    image.take_spare();
}

void shear_x(Image& image, double amount, Resampling resampling, Rgb fill) {
    check_shear(amount);
    resample_along<0>(image, {{1, 0}, {amount, 1}, {0, 0}}, resampling, fill);
}

void shear_y(Image& image, double amount, Resampling resampling, Rgb fill) {
    check_shear(amount);
    resample_along<1>(image, {{1, amount}, {0, 1}, {0, 0}}, resampling, fill);
}

void translate_x(Image& image, double pixels, Resampling resampling, Rgb fill) {
    check_distance(pixels);
    resample_along<0>(image, {{1, 0}, {0, 1}, {pixels, 0}}, resampling, fill);
}

void translate_y(Image& image, double pixels, Resampling resampling, Rgb fill) {
    check_distance(pixels);
    resample_along<1>(image, {{1, 0}, {0, 1}, {0, pixels}}, resampling, fill);
}

void rotate(Image& image, double degrees, Resampling resampling, Rgb fill) {
    require(std::isfinite(degrees), "image: rotation by ", degrees, " degrees, wanted a number");
    double turn = std::fmod(degrees, 360.0);
    if (turn < 0) turn += 360.0;
    if (turn == 0) return;
    if (turn == 180) return half_turn(image);
    const bool square = image.width() == image.height();
    if (square && (turn == 90 || turn == 270)) return quarter_turn(image, turn == 90);

    const double angle = -turn * (std::numbers::pi / 180.0);
    const double cosine = rounded(std::cos(angle));
    const dmat2 rotation = {{cosine, rounded(-std::sin(angle))}, {rounded(std::sin(angle)), cosine}};
    const dvec2 middle = dvec2(image.width(), image.height()) / 2.0;
    const Affine map(rotation[0], rotation[1], rotation * -middle + middle);
    resampling == Resampling::bicubic ? resample_bicubic(image, map, fill) : resample_nearest(image, map, fill);
}

void cutout(Image& image, double x, double y, double side, Rgb colour) {
    const auto sensible = [](double v) { return v >= 0 && v <= 8192; };
    require(sensible(x) && sensible(y) && sensible(side), "image: cutout of side ", side, " at (", x, ", ", y,
            "), wanted 0 to 8192");
    const ivec2 first = glm::max(dvec2(x, y) - side / 2, 0.0);
    const ivec2 last = glm::min(ivec2(dvec2(first) + side), ivec2(image.width(), image.height()) - 1);
    for (int row = first.y; row <= last.y; ++row) {
        for (int column = first.x; column <= last.x; ++column) image.at(column, row) = colour;
    }
}

}  // namespace vkf
