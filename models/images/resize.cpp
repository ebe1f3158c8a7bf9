#include "models/images/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "models/images/image.h"

namespace vkf {

namespace {

constexpr int FRACTION = 22;  // bits of a weight: 32 less 8 of a pixel and 2 for sums beyond 1
constexpr int BAND = 4096;    // rows that are narrowed at a time: a picture may be 1 pixel wide and a million high

struct Kernel {
    double (*at)(double x);
    double support;  // radius beyond which it is 0
};

double box(double x) {
    return x > -0.5 && x <= 0.5 ? 1 : 0;
}

double triangle(double x) {
    return std::max(1 - std::abs(x), 0.0);
}

double hamming(double x) {
    x = std::abs(x);
    if (x == 0) return 1;
    if (x >= 1) return 0;
    x *= std::numbers::pi;
    return std::sin(x) / x * (0.54 + 0.46 * std::cos(x));
}

double cubic(double x) {
    constexpr double a = -0.5;
    x = std::abs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
}

double sinc(double x) {
    if (x == 0) return 1;
    x *= std::numbers::pi;
    return std::sin(x) / x;
}

double lanczos(double x) {
    return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

Kernel kernel_of(ResizeFilter filter) {
    switch (filter) {
        case ResizeFilter::box:
            return {box, 0.5};
        case ResizeFilter::bilinear:
            return {triangle, 1};
        case ResizeFilter::hamming:
            return {hamming, 1};
        case ResizeFilter::lanczos:
            return {lanczos, 3};
        default:
            return {cubic, 2};
    }
}

/// Weights of the old rows or columns that make up one new row or column.
struct Weights {
    int first;
    std::vector<int> of;  // with FRACTION bits after the point

    int end() const { return first + static_cast<int>(of.size()); }
};

/// Weights of the new rows or columns [begin, begin + count), if `before` old ones become `now`. Equal numbers copy
/// them.
std::vector<Weights> weights(int before, std::int64_t now, std::int64_t begin, int count, const Kernel& kernel) {
    std::vector<Weights> made;
    if (now == before) {
        for (std::int64_t i = begin; i < begin + count; ++i) made.push_back({static_cast<int>(i), {1 << FRACTION}});
        return made;
    }
    const double scale = static_cast<double>(before) / static_cast<double>(now), stretch = std::max(scale, 1.0);
    const double support = kernel.support * stretch;
    std::vector<double> exact;
    for (std::int64_t i = begin; i < begin + count; ++i) {
        const double middle = (static_cast<double>(i) + 0.5) * scale;
        const int first = std::max(static_cast<int>(middle - support + 0.5), 0);
        const int end = std::min(static_cast<int>(middle + support + 0.5), before);
        exact.clear();
        double sum = 0;
        for (int x = first; x < end; ++x) {
            exact.push_back(kernel.at((x - middle + 0.5) * (1 / stretch)));
            sum += exact.back();
        }
        Weights& one = made.emplace_back(Weights{first, {}});
        for (double weight : exact) {
            if (sum != 0) weight /= sum;
            one.of.push_back(static_cast<int>(weight * (1 << FRACTION) + (weight < 0 ? -0.5 : 0.5)));
        }
    }
    return made;
}

/// Weighted mean of pixels of one channel that are `pitch` bytes apart.
std::uint8_t mean(const std::uint8_t* from, std::size_t pitch, const std::vector<int>& weights) {
    int sum = 1 << (FRACTION - 1);
    for (const int weight : weights) {
        sum += *from * weight;
        from += pitch;
    }
    return static_cast<std::uint8_t>(std::clamp(sum >> FRACTION, 0, 255));
}

Picture blank(int width, int height) {
    Picture made{width, height, {}};
    made.rgb.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * CHANNELS);
    return made;
}

std::size_t row(const Picture& picture, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) * CHANNELS;
}

/// Makes the new columns of rows [begin, end).
Picture narrowed(const Picture& from, const std::vector<Weights>& columns, int begin, int end) {
    Picture made = blank(static_cast<int>(columns.size()), end - begin);
    std::uint8_t* to = made.rgb.data();
    for (int y = begin; y < end; ++y)
        for (const Weights& column : columns)
            for (int c = 0; c < CHANNELS; ++c)
                *to++ = mean(from.rgb.data() + row(from, y) + column.first * CHANNELS + c, CHANNELS, column.of);
    return made;
}

/// Old row or column under the middle of each new one; positions are added up one by one.
std::vector<int> nearest(int before, std::int64_t now, std::int64_t begin, int count) {
    const double scale = static_cast<double>(before) / static_cast<double>(now);
    std::vector<int> made;
    double at = scale * 0.5;
    for (std::int64_t i = 0; i < begin + count; ++i, at += scale)
        if (i >= begin) made.push_back(std::min(static_cast<int>(at), before - 1));
    return made;
}

Picture sampled(const Picture& from, std::int64_t width, std::int64_t height, const Cut& cut) {
    const std::vector<int> columns = nearest(from.width, width, cut.left, cut.width),
                           rows = nearest(from.height, height, cut.top, cut.height);
    Picture made = blank(cut.width, cut.height);
    std::uint8_t* to = made.rgb.data();
    for (const int y : rows)
        for (const int x : columns) to = std::copy_n(from.rgb.data() + row(from, y) + x * CHANNELS, CHANNELS, to);
    return made;
}

}  // namespace

Picture resized(const Picture& picture, std::int64_t width, std::int64_t height, ResizeFilter filter, const Cut& cut) {
    if (filter == ResizeFilter::nearest) return sampled(picture, width, height, cut);
    const Kernel kernel = kernel_of(filter);
    const std::vector<Weights> columns = weights(picture.width, width, cut.left, cut.width, kernel),
                               rows = weights(picture.height, height, cut.top, cut.height, kernel);
    Picture made = blank(cut.width, cut.height);
    std::uint8_t* to = made.rgb.data();
    const std::size_t pitch = row(made, 1);
    for (std::size_t first = 0, last; first < rows.size(); first = last) {
        const int begin = rows[first].first;
        for (last = first + 1; last < rows.size() && rows[last].end() - begin <= BAND;) ++last;
        const Picture band = narrowed(picture, columns, begin, rows[last - 1].end());
        for (std::size_t y = first; y < last; ++y)
            for (std::size_t i = 0; i < pitch; ++i)
                *to++ = mean(band.rgb.data() + row(band, rows[y].first - begin) + i, pitch, rows[y].of);
    }
    return made;
}

Picture fitted(const Picture& picture, int side, const ImageFit& fit, const std::string& name) {
    const int shorter = fit.shorter > 0 ? fit.shorter : side;
    require(shorter >= side, name, ": its shorter side becomes ", shorter, " pixels, of which ", side,
            " cannot be cut out");
    const auto [least, most] = std::minmax({picture.width, picture.height});
    const std::int64_t longer = std::int64_t{shorter} * most / least;
    const std::int64_t width = fit.stretched || picture.width <= picture.height ? shorter : longer,
                       height = fit.stretched || picture.width > picture.height ? shorter : longer;
    const auto middle = [&](std::int64_t length) {
        const std::int64_t half = (length - side) / 2;
        const bool between = (length - side) % 2 != 0;
        return fit.even && between ? half + half % 2 : half;
    };
    return resized(picture, width, height, fit.filter, {middle(width), middle(height), side, side});
}

}  // namespace vkf
