// RandAugment of the CIFAR recipe with the 512-wide ViT: a few of 16 operations, all at one magnitude.
// Cubuk, Zoph, Shlens, Le: RandAugment, Practical Automated Data Augmentation with a Reduced Search Space (2020). The
// ranges are those of the published code, made for larger images: a translation of 46.7 pixels empties a 32x32 image,
// on purpose.
#pragma once

#include "base/random.h"
#include "models/images/augmentation/operations.h"

namespace vkf {

struct RandAugment {
    int operations = 2;
    int magnitude = 14;  // 0 … 30
};

/// Amount of an operation at a magnitude: least + magnitude/30·(greatest - least).
///
///     rotate 0 … 30 degrees     posterize 0 … 4 bits, at least 1     solarize 0 … 256     solarize_add 0 … 110
///     color, contrast, brightness, sharpness 0.1 … 1.9     shear 0 … 0.3     cutout 0 … 40
///     translate 0 … 100 pixels
///
/// Throws: InputError unless 0 ≤ magnitude ≤ 30.
double randaugment_amount(Operation operation, int magnitude);

/// Nearest pixels; black for points outside of the image.
inline constexpr AugmentStyle randaugment_style = {.cutout = {125, 123, 114}};

/// Operations of the recipe: the first so many of all.
inline constexpr int randaugment_operations = 16;

/// Chooses one of the 16 operations, all equally likely. Shear, translation and rotation take a random sign; cutout's
/// middle is uniform between pixel 1 and the far side.
AugmentOp choose_randaugment(Random& random, int magnitude, int width, int height);

/// Chooses and applies one operation after the other.
void randaugment(Image& image, Random& random, const RandAugment& options = {});

}  // namespace vkf
