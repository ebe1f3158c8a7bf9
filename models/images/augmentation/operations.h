// Augmentation operations on an image; each gives the bytes that PIL (Pillow 9.4) gives.
#pragma once

#include <string_view>

#include "models/images/image.h"

namespace vkf {

/// Reading between pixels. nearest: the pixel that contains the point, in 16.16 fixed point as PIL. bicubic: 4 x 4 taps
/// of the cubic kernel with a = -1 in double precision, the image's border pixels repeated outside.
enum class Resampling { nearest, bicubic };

// --- Geometry. A point outside of the image takes the colour `fill`.

/// Mirrors left and right.
void flip(Image& image);

/// Cuts out the rectangle with its corner at (left, top), which may extend beyond the image on every side.
/// Throws: InputError unless 1 ≤ width, height ≤ 4096 and |left|, |top| ≤ 4096.
void crop(Image& image, int left, int top, int width, int height, Rgb fill = {});

/// Pixel (x, y) is read at (x + amount·y, y), or at (x, y + amount·x); coordinates are those of pixel centres, x + 1/2.
/// Throws: InputError unless |amount| ≤ 4.
void shear_x(Image& image, double amount, Resampling resampling, Rgb fill = {});
void shear_y(Image& image, double amount, Resampling resampling, Rgb fill = {});

/// Pixel (x, y) is read at (x + pixels, y), or at (x, y + pixels): the image moves left, or up.
/// Throws: InputError unless the distance is finite.
void translate_x(Image& image, double pixels, Resampling resampling, Rgb fill = {});
void translate_y(Image& image, double pixels, Resampling resampling, Rgb fill = {});

/// Rotates about the middle, counter-clockwise, and keeps the size. Quarter turns (of a square) and half turns move
/// pixels without resampling. The matrix is rounded to 15 decimal places as in PIL.
/// Throws: InputError unless the angle is finite.
void rotate(Image& image, double degrees, Resampling resampling, Rgb fill = {});

/// Fills a rectangle about (x, y): from x0 = int(max(0, x - side/2)) to int(min(width, x0 + side)), the last pixel
/// included, as PIL draws; likewise in y.
/// Throws: InputError unless 0 ≤ x, y, side ≤ 8192.
void cutout(Image& image, double x, double y, double side, Rgb colour);

// --- Values, each channel by itself.

/// Replaces each value by 255 - value.
void invert(Image& image);

/// Keeps the `bits` upper bits; 0 leaves black. Throws: InputError unless 0 ≤ bits ≤ 8.
void posterize(Image& image, int bits);

/// Inverts values at or above the threshold.
void solarize(Image& image, double threshold);

/// Solarizes int(value + addition) within 0 … 255. Throws: InputError unless the addition is finite.
void solarize_add(Image& image, double addition, double threshold = 128);

/// Values below the threshold become min(value + addition, 255), others stay: SolarizeAdd of EfficientNet's published
/// code and of timm. Throws: InputError unless 0 ≤ addition ≤ 255.
void brighten_dark(Image& image, int addition, int threshold = 128);

/// Stretches values linearly: the least becomes 0, the greatest 255; a channel of one value stays.
void autocontrast(Image& image);

/// Values become their rank: entry i is (step/2 + Σ_{k<i} h_k)/step in integers, h the histogram and step the
/// 255th part of the pixels outside of the greatest value's bin; step 0 leaves the channel as it is.
void equalize(Image& image);

// --- Enhancement: int(d + factor·(value - d)) within 0 … 255 in fp32; d is the image without the enhanced quality.
// Throw: InputError unless |factor| ≤ 1e6.

/// d: luma, (19595 R + 38470 G + 7471 B + 32768) >> 16.
void color(Image& image, double factor);

/// d: the mean luma, rounded.
void contrast(Image& image, double factor);

/// d: black.
void brightness(Image& image, double factor);

/// d: the 3x3 mean with weight 5 in the middle and 1 around it, rounded; border pixels stay.
void sharpness(Image& image, double factor);

// --- An operation as data.

enum class Operation {
    shear_x,
    shear_y,
    translate_x,
    translate_y,
    rotate,
    posterize,
    solarize,
    solarize_add,
    invert,
    autocontrast,
    equalize,
    color,
    contrast,
    brightness,
    sharpness,
    cutout,
    brighten_dark,
};
inline constexpr int operation_count = 17;

/// The function's name.
std::string_view name_of(Operation operation);

/// An operation and its argument (bits, pixels, degrees, …; 0 where there is none); x and y are for cutout.
struct AugmentOp {
    Operation operation = Operation::invert;
    double amount = 0.0;
    double x = 0.0, y = 0.0;
};

/// Settings shared by a recipe's operations.
struct AugmentStyle {
    Resampling shear = Resampling::nearest;
    Resampling motion = Resampling::nearest;  // of translations and rotations
    Rgb fill = {};                            // colour of points outside of the image
    Rgb cutout = {};                          // colour of the rectangle
};

void apply(Image& image, const AugmentOp& op, const AugmentStyle& style);

}  // namespace vkf
