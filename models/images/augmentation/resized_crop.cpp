#include "models/images/augmentation/resized_crop.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/images/drawing/draw.h"

namespace vkf {
namespace {

int rounded_side(double v) {
    return static_cast<int>(std::nearbyint(v));  // halves to even, as in Python
}

Picture part_of(const Picture& picture, const Box& box) {
    Picture part{box.width, box.height, {}};
    part.rgb.reserve(static_cast<std::size_t>(box.width) * static_cast<std::size_t>(box.height) * CHANNELS);
    for (int y = box.top; y < box.top + box.height; ++y) {
        const auto first = picture.rgb.begin() + (std::ptrdiff_t{y} * picture.width + box.left) * CHANNELS;
        part.rgb.insert(part.rgb.end(), first, first + std::ptrdiff_t{box.width} * CHANNELS);
    }
    return part;
}

}  // namespace

Box choose_resized_crop(Random& random, int width, int height, const ResizedCrop& crop) {
    constexpr int attempts = 10;
    const double area = static_cast<double>(width) * height;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const double part = between(random, crop.least_area, crop.most_area) * area;
        const double aspect = std::exp(between(random, std::log(crop.least_aspect), std::log(crop.most_aspect)));
        const int w = rounded_side(std::sqrt(part * aspect)), h = rounded_side(std::sqrt(part / aspect));
        if (w < 1 || h < 1 || w > width || h > height) continue;
        const int top = index_below(random, height - h + 1), left = index_below(random, width - w + 1);
        return {left, top, w, h};
    }
    const double aspect = static_cast<double>(width) / height;
    int w = width, h = height;
    if (aspect < crop.least_aspect) h = std::clamp(rounded_side(w / crop.least_aspect), 1, height);
    if (aspect > crop.most_aspect) w = std::clamp(rounded_side(h * crop.most_aspect), 1, width);
    return {(width - w) / 2, (height - h) / 2, w, h};
}

Picture resized_crop(const Picture& picture, const Box& box, int side) {
    return resized(part_of(picture, box), side, side, ResizeFilter::bicubic, {0, 0, side, side});
}

}  // namespace vkf
