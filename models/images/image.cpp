#include "models/images/image.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace vkf {
namespace {

std::size_t checked_pixels(int width, int height) {
    require(width >= 1 && height >= 1 && width <= Image::longest_side && height <= Image::longest_side,
            "image: ", width, " x ", height, " pixels, wanted sides of 1 to ", Image::longest_side);
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
}

void paint(std::vector<Rgb>& pixels, std::size_t size, Rgb colour) {
    pixels.resize(size);
    if (colour == Rgb(colour.r))
        std::memset(pixels.data(), colour.r, size * sizeof(Rgb));  // many times faster
    else
        std::ranges::fill(pixels, colour);
}

}  // namespace

Image::Image(int width, int height, Rgb colour) : width_(width), height_(height) {
    paint(pixels_, checked_pixels(width, height), colour);
}

void Image::prepare_spare(int width, int height, Rgb colour) {
    paint(spare_, checked_pixels(width, height), colour);
    spare_width_ = width;
    spare_height_ = height;
}

void Image::take_spare() {
    pixels_.swap(spare_);
    std::swap(width_, spare_width_);
    std::swap(height_, spare_height_);
}

void write_planes(const Image& image, std::span<std::uint8_t> planes) {
    const std::span<const Rgb> pixels = image.pixels();
    const std::size_t plane = pixels.size();
    require(planes.size() == 3 * plane, "image: room for ", planes.size(), " bytes in three planes, wanted ",
            3 * plane);
    for (std::size_t i = 0; i < plane; ++i) {
        planes[i] = pixels[i].r, planes[plane + i] = pixels[i].g, planes[2 * plane + i] = pixels[i].b;
    }
}

}  // namespace vkf
