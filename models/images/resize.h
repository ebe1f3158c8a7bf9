// Pictures in another size, with the bytes of PIL.
#pragma once

#include <cstdint>
#include <string>

#include "models/images/picture.h"

namespace vkf {

/// Filters of new pixels, numbered as PIL's Image.Resampling.
enum class ResizeFilter { nearest, lanczos, bilinear, bicubic, box, hamming };

/// A part of a picture, in pixels from its left and top.
struct Cut {
    std::int64_t left = 0, top = 0;
    int width = 0, height = 0;
};

/// The part `cut` of what PIL's `Image.resize((width, height), filter)` makes of a picture: each pixel is a weighted
/// mean of those around its place, of more of them the more there are (Pillow's Resample.c). A row's and a column's
/// weights are fixed-point numbers of 22 bits, and the rows' means are rounded to 8 bits before the columns' are taken.
/// Sizes are above 0; the cut lies in the result and is not empty.
Picture resized(const Picture& picture, std::int64_t width, std::int64_t height, ResizeFilter filter, const Cut& cut);

/// Fit of a picture to the square that a model takes. `side` is the square's.
struct ImageFit {
    bool stretched = false;  // to a square, else by its shorter side; the middle is cut out of either
    int shorter = 0;         // that side's length, or the square's before the cut; 0: that of the square to be had
    ResizeFilter filter = ResizeFilter::bicubic;
    bool even = false;  // a middle half a pixel off begins at an even pixel, as torchvision's, else before it

    bool operator==(const ImageFit&) const = default;
};

/// Throws: InputError beginning with `name` if the shorter side is less than the square's.
Picture fitted(const Picture& picture, int side, const ImageFit& fit, const std::string& name);

}  // namespace vkf
