#include "models/images/image.h"

#include <algorithm>

#include "base/error.h"

namespace vkf {
namespace {

std::size_t checked_bytes(int width, int height) {
    require(width >= 1 && height >= 1 && width <= Image::longest_side && height <= Image::longest_side,
            "image: ", width, " x ", height, " pixels, wanted sides of 1 to ", Image::longest_side);
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
}

void paint(std::vector<std::uint8_t>& pixels, std::size_t size, Rgb colour) {
    pixels.resize(size);
    if (colour[0] == colour[1] && colour[1] == colour[2]) {
        std::fill(pixels.begin(), pixels.end(), colour[0]);
        return;
    }
    for (std::size_t i = 0; i < size; i += 3) {
        for (std::size_t c = 0; c < 3; ++c) pixels[i + c] = colour[c];
    }
}

}  // namespace

Image::Image(int width, int height, Rgb colour) : width_(width), height_(height) {
    paint(pixels_, checked_bytes(width, height), colour);
}

void Image::prepare_spare(int width, int height, Rgb colour) {
    paint(spare_, checked_bytes(width, height), colour);
    spare_width_ = width;
    spare_height_ = height;
}

void Image::take_spare() {
    pixels_.swap(spare_);
    std::swap(width_, spare_width_);
    std::swap(height_, spare_height_);
}

void read_planes(std::span<const std::uint8_t> planes, int width, int height, Image& image) {
    const std::size_t bytes = checked_bytes(width, height), plane = bytes / 3;
    require(planes.size() == bytes, "image: ", planes.size(), " bytes in three planes, wanted ", bytes, " for ", width,
            " x ", height, " pixels");
    if (image.width() != width || image.height() != height) {
        image.prepare_spare(width, height);
        image.take_spare();
    }
    const std::span<std::uint8_t> pixels = image.bytes();
    for (std::size_t i = 0; i < plane; ++i) {
        for (std::size_t c = 0; c < 3; ++c) pixels[3 * i + c] = planes[c * plane + i];
    }
}

void write_planes(const Image& image, std::span<std::uint8_t> planes) {
    const std::span<const std::uint8_t> pixels = image.bytes();
    require(planes.size() == pixels.size(), "image: room for ", planes.size(), " bytes in three planes, wanted ",
            pixels.size());
    const std::size_t plane = pixels.size() / 3;
    for (std::size_t i = 0; i < plane; ++i) {
        for (std::size_t c = 0; c < 3; ++c) planes[c * plane + i] = pixels[3 * i + c];
    }
}

}  // namespace vkf
