// The operations that move pixels.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/error.h"
#include "models/images/operations.h"

namespace vkf {
namespace {

/// The point that pixel (x, y) of the result is read at: (x_x·x + x_y·y + x_0, y_x·x + y_y·y + y_0).
struct Affine {
    double x_x = 1, x_y = 0, x_0 = 0;
    double y_x = 0, y_y = 1, y_0 = 0;
};

int floor_int(double v) {
    return static_cast<int>(std::floor(v));
}

/// 16.16 fixed point, rounded.
int fixed_point(double v) {
    return floor_int(v * 65536.0 + 0.5);
}

void copy_pixel(std::uint8_t* to, const std::uint8_t* from) {
    std::memcpy(to, from, 3);
}

/// Nearest pixel, no rotation in the map: coordinates are summed up in double, one pixel after the other.
void resample_upright(Image& image, const Affine& map, Rgb fill) {
    image.prepare_spare(fill);
    double y_from = map.y_0 + map.y_y * 0.5;
    for (int y = 0; y < image.height(); ++y, y_from += map.y_y) {
        if (y_from < 0 || y_from >= image.height()) continue;
        const int row = static_cast<int>(y_from);
        double x_from = map.x_0 + map.x_x * 0.5;
        for (int x = 0; x < image.width(); ++x, x_from += map.x_x) {
            if (x_from < 0 || x_from >= image.width()) continue;
            copy_pixel(image.spare_at(x, y), image.at(static_cast<int>(x_from), row));
        }
    }
    image.take_spare();
}

void resample_nearest(Image& image, const Affine& map, Rgb fill) {
    if (map.x_y == 0 && map.y_x == 0) return resample_upright(image, map, fill);
    const int x_x = fixed_point(map.x_x), x_y = fixed_point(map.x_y);
    const int y_x = fixed_point(map.y_x), y_y = fixed_point(map.y_y);
    int x_start = fixed_point(map.x_0 + map.x_x * 0.5 + map.x_y * 0.5);
    int y_start = fixed_point(map.y_0 + map.y_x * 0.5 + map.y_y * 0.5);
    image.prepare_spare(fill);
    for (int y = 0; y < image.height(); ++y, x_start += x_y, y_start += y_y) {
        int x_from = x_start, y_from = y_start;
        for (int x = 0; x < image.width(); ++x, x_from += x_x, y_from += y_x) {
            const int column = x_from >> 16, row = y_from >> 16;
            if (column < 0 || column >= image.width() || row < 0 || row >= image.height()) continue;
            copy_pixel(image.spare_at(x, y), image.at(column, row));
        }
    }
    image.take_spare();
}

/// Where four taps along one axis lie, and how far the point is past the second.
struct Taps {
    int first = 0;
    double past = 0.0;
};

Taps taps_at(double from) {
    const double corner = from - 0.5;
    const int whole = floor_int(corner);
    return {whole - 1, corner - whole};
}

/// The cubic through four neighbouring bytes; truncated as PIL does, so 254.99 is 254.
std::uint8_t cubic(int a, int b, int c, int d, double past) {
    const double p2 = c - a;
    const double p3 = 2 * (a - b) + c - d;
    const double p4 = b - a + d - c;
    const double v = b + past * (p2 + past * (p3 + past * p4));
    return v <= 0.0 ? std::uint8_t{0} : v >= 255.0 ? std::uint8_t{255} : static_cast<std::uint8_t>(v);
}

/// Bicubic shear. Along the axis that is not sheared points fall on pixel centres, where the cubic is the pixel itself.
template <bool along_x>
void shear_bicubic(Image& image, double amount, Rgb fill) {
    const int size = along_x ? image.width() : image.height();
    image.prepare_spare(fill);
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const double from = along_x ? (x + 0.5) + amount * (y + 0.5) : amount * (x + 0.5) + (y + 0.5);
            if (from < 0.0 || from >= size) continue;
            const Taps taps = taps_at(from);
            std::array<const std::uint8_t*, 4> pixels;
            for (int tap = 0; tap < 4; ++tap) {
                const int place = std::clamp(taps.first + tap, 0, size - 1);
                pixels[static_cast<std::size_t>(tap)] = along_x ? image.at(place, y) : image.at(x, place);
            }
            std::uint8_t* const out = image.spare_at(x, y);
            for (int c = 0; c < 3; ++c) {
                out[c] = cubic(pixels[0][c], pixels[1][c], pixels[2][c], pixels[3][c], taps.past);
            }
        }
    }
    image.take_spare();
}

void check_distance(double pixels) {
    require(std::isfinite(pixels), "image: translation by ", pixels, " pixels, wanted a number");
}

void check_shear(double amount) {
    require(std::abs(amount) <= 4, "image: shear by ", amount, ", wanted -4 to 4");
}

/// To 15 decimal places, decimally exact as Python rounds.
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
            copy_pixel(image.spare_at(image.width() - 1 - x, image.height() - 1 - y), image.at(x, y));
        }
    }
    image.take_spare();
}

void quarter_turn(Image& image, bool left) {
    const int last = image.width() - 1;
    image.prepare_spare();
    for (int y = 0; y <= last; ++y) {
        for (int x = 0; x <= last; ++x) {
            copy_pixel(left ? image.spare_at(y, last - x) : image.spare_at(last - y, x), image.at(x, y));
        }
    }
    image.take_spare();
}

}  // namespace

void flip(Image& image) {
    for (int y = 0; y < image.height(); ++y) {
        std::uint8_t* left = image.at(0, y);
        std::uint8_t* right = image.at(image.width() - 1, y);
        for (; left < right; left += 3, right -= 3) std::swap_ranges(left, left + 3, right);
    }
}

void crop(Image& image, int left, int top, int width, int height, Rgb fill) {
    require(std::abs(left) <= 4096 && std::abs(top) <= 4096, "image: crop at (", left, ", ", top,
            "), wanted -4096 to 4096");
    image.prepare_spare(width, height, fill);
    const int first = std::max(0, -left), end = std::min(width, image.width() - left);
    for (int y = std::max(0, -top); y < std::min(height, image.height() - top) && first < end; ++y) {
        std::copy_n(image.at(left + first, top + y), 3 * (end - first), image.spare_at(first, y));
    }
    image.take_spare();
}

void shear_x(Image& image, double amount, Resampling resampling, Rgb fill) {
    check_shear(amount);
    if (resampling == Resampling::bicubic) return shear_bicubic<true>(image, amount, fill);
    Affine map;
    map.x_y = amount;
    resample_nearest(image, map, fill);
}

void shear_y(Image& image, double amount, Resampling resampling, Rgb fill) {
    check_shear(amount);
    if (resampling == Resampling::bicubic) return shear_bicubic<false>(image, amount, fill);
    Affine map;
    map.y_x = amount;
    resample_nearest(image, map, fill);
}

void translate_x(Image& image, double pixels, Rgb fill) {
    check_distance(pixels);
    Affine map;
    map.x_0 = pixels;
    resample_nearest(image, map, fill);
}

void translate_y(Image& image, double pixels, Rgb fill) {
    check_distance(pixels);
    Affine map;
    map.y_0 = pixels;
    resample_nearest(image, map, fill);
}

void rotate(Image& image, double degrees, Rgb fill) {
    require(std::isfinite(degrees), "image: rotation by ", degrees, " degrees, wanted a number");
    double turn = std::fmod(degrees, 360.0);
    if (turn < 0) turn += 360.0;
    if (turn == 0) return;
    if (turn == 180) return half_turn(image);
    const bool square = image.width() == image.height();
    if (square && (turn == 90 || turn == 270)) return quarter_turn(image, turn == 90);

    const double angle = -turn * (std::numbers::pi / 180.0);
    const double x_middle = image.width() / 2.0, y_middle = image.height() / 2.0;
    Affine map;
    map.x_x = map.y_y = rounded(std::cos(angle));
    map.x_y = rounded(std::sin(angle));
    map.y_x = rounded(-std::sin(angle));
    map.x_0 = map.x_x * -x_middle + map.x_y * -y_middle + x_middle;
    map.y_0 = map.y_x * -x_middle + map.y_y * -y_middle + y_middle;
    resample_nearest(image, map, fill);
}

void cutout(Image& image, double x, double y, double side, Rgb colour) {
    const auto sensible = [](double v) { return v >= 0 && v <= 8192; };
    require(sensible(x) && sensible(y) && sensible(side), "image: cutout of side ", side, " at (", x, ", ", y,
            "), wanted 0 to 8192");
    const int left = static_cast<int>(std::max(0.0, x - side / 2)), top = static_cast<int>(std::max(0.0, y - side / 2));
    const int right = static_cast<int>(std::min<double>(image.width(), left + side));
    const int bottom = static_cast<int>(std::min<double>(image.height(), top + side));
    for (int row = top; row <= std::min(bottom, image.height() - 1); ++row) {
        for (int column = left; column <= std::min(right, image.width() - 1); ++column) {
            copy_pixel(image.at(column, row), colour.data());
        }
    }
}

}  // namespace vkf
