// An 8-bit RGB image in PIL's layout, with a spare buffer for the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/gtc/type_precision.hpp>
#include <span>
#include <vector>

namespace vkf {

/// A pixel or a colour: red, green and blue.
using Rgb = glm::u8vec3;
static_assert(sizeof(Rgb) == 3);  // so an image can be read as bytes

inline constexpr int CHANNELS = sizeof(Rgb);

/// A rectangle of pixels.
struct Box {
    int left = 0, top = 0, width = 0, height = 0;
};

/// Rows from the top, pixels from the left, red, green and blue in each: byte (y·width + x)·3 + channel.
///
/// A transformation that cannot work in place writes every pixel of the spare and then calls `take_spare`. Both buffers
/// are kept for the next image, so a thread that works through a data set allocates nothing per image.
class Image {
public:
    static constexpr int longest_side = 4096;  // coordinates in 16.16 fixed point stay far from overflow

    /// Throws: InputError unless both sides are 1 … longest_side.
    Image(int width, int height, Rgb colour = {});

    int width() const { return width_; }
    int height() const { return height_; }

    Rgb& at(int x, int y) { return pixels_[place(x, y, width_)]; }
    const Rgb& at(int x, int y) const { return pixels_[place(x, y, width_)]; }
    std::span<Rgb> pixels() { return pixels_; }
    std::span<const Rgb> pixels() const { return pixels_; }
    std::span<std::uint8_t> bytes() { return {reinterpret_cast<std::uint8_t*>(pixels_.data()), 3 * pixels_.size()}; }
    std::span<const std::uint8_t> bytes() const {
        return {reinterpret_cast<const std::uint8_t*>(pixels_.data()), 3 * pixels_.size()};
    }

    /// Makes a spare of the given size with every pixel in one colour; `spare_at` is its pixel (x, y).
    void prepare_spare(int width, int height, Rgb colour = {});
    void prepare_spare(Rgb colour = {}) { prepare_spare(width_, height_, colour); }
    Rgb& spare_at(int x, int y) { return spare_[place(x, y, spare_width_)]; }

    /// Swaps the spare and the image.
    void take_spare();

private:
    static std::size_t place(int x, int y, int width) {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
    }

    int width_, height_, spare_width_ = 0, spare_height_ = 0;
    std::vector<Rgb> pixels_, spare_;
};

/// Converts an image to CIFAR's layout, planes of red, green and blue.
/// Shapes: planes [3, height, width].
/// Throws: InputError if the planes have another number of bytes than the image.
void write_planes(const Image& image, std::span<std::uint8_t> planes);

}  // namespace vkf
