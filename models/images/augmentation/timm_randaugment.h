// RandAugment as timm and DeiT train with it: a few of 15 operations, each applied by chance and with its own
// magnitude. Cubuk, Zoph, Shlens, Le: RandAugment, Practical Automated Data Augmentation with a Reduced Search Space
// (2020); ranges and names are those of timm 0.3.2, timm/data/auto_augment.py.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/random.h"
#include "models/images/augmentation/operations.h"
#include "models/images/normalise.h"

namespace vkf {

struct TimmRandAugment {
    int magnitude = 10;       // 0 … 10
    double deviation = 0;     // of the magnitude's normal distribution, clipped to 0 … 10
    int operations = 2;       // chosen for an image, with replacement
    bool increasing = false;  // every operation changes an image more the larger the magnitude
};

/// Reads timm's notation: rand, and then in any order -m9 (magnitude), -n2 (operations), -mstd0.5 (deviation) and -inc1
/// (increasing). Sections that are missing have the defaults above, which are timm's.
/// Throws: InputError naming the section that is unknown, repeated or has another value; so for timm's other policies.
TimmRandAugment timm_randaugment_named(std::string_view words);

inline constexpr std::array timm_randaugment_operations = {
    Operation::autocontrast, Operation::equalize,    Operation::invert,        Operation::rotate,
    Operation::posterize,    Operation::solarize,    Operation::brighten_dark, Operation::color,
    Operation::contrast,     Operation::brightness,  Operation::sharpness,     Operation::shear_x,
    Operation::shear_y,      Operation::translate_x, Operation::translate_y,
};

/// Operation of magnitude m for an image of this size; `sign` is 1 or -1, for operations that have two directions.
///
///     rotate ±3·m degrees     shear ±0.03·m     translate ±0.045·m of the side     brighten_dark int(11·m)
///     color, contrast, brightness, sharpness 1 ± 0.09·m, or without `increasing` 0.1 + 0.18·m
///     posterize 4 - int(0.4·m) bits, or int(0.4·m)     solarize 256 - int(25.6·m), or int(25.6·m)
///
/// Throws: InputError unless 0 ≤ m ≤ 10, and for operations that the policy does not have.
AugmentOp timm_randaugment_op(Operation operation, double magnitude, bool increasing, int sign, int width, int height);

/// Chooses one of the 15 operations, all equally likely, its magnitude and sign; with probability 1/2 nothing.
std::optional<AugmentOp> choose_timm_randaugment(Random& random, const TimmRandAugment& options, int width, int height);

/// Bicubic geometry; the mean of the data, as bytes, for points outside of the image.
AugmentStyle timm_randaugment_style(const Statistics& statistics);

/// Chooses and applies one operation after the other.
void timm_randaugment(Image& image, Random& random, const TimmRandAugment& options, const AugmentStyle& style);

}  // namespace vkf
