// Resizes pictures to the bytes of PIL.
#pragma once

#include <cstdint>
#include <string>

#include "models/images/codecs/picture.h"

namespace vkf {

/// Resampling filters, numbered as PIL's Image.Resampling.
enum class ResizeFilter { nearest, lanczos, bilinear, bicubic, box, hamming };

/// A part of a picture, in pixels from its left and top.
struct Cut {
    std::int64_t left = 0, top = 0;
    int width = 0, height = 0;
};

/// The part `cut` of PIL's `Image.resize((width, height), filter)`: each pixel is a weighted mean of the pixels around
/// its place, of more of them if the picture is reduced (Pillow's Resample.c). The weights of rows and columns are
/// fixed-point numbers of 22 bits, and the means of rows are rounded to 8 bits before those of columns are taken. Sizes
/// are above 0; the cut is inside the result and not empty.
Picture resized(const Picture& picture, std::int64_t width, std::int64_t height, ResizeFilter filter, const Cut& cut);

/// Fitting of a picture to a square that a model takes. `side` is the square's.
struct ImageFit {
    bool stretched = false;  // to a square, else by its shorter side; the middle is cut out of either
    int shorter = 0;         // length of the shorter side, or of the square before the cut; 0: side of the final square
    ResizeFilter filter = ResizeFilter::bicubic;
    bool even = false;  // a middle half a pixel off begins at an even pixel, as torchvision's, else before it

    bool operator==(const ImageFit&) const = default;
};

/// Fits a picture. Throws: InputError beginning with `name` if the shorter side is less than the square's.
Picture fitted(const Picture& picture, int side, const ImageFit& fit, const std::string& name);

}  // namespace vkf
