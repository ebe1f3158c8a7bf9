// Random resized crop: a part of a picture, of random area and aspect, as a square.
#pragma once

#include "base/random.h"
#include "models/images/image.h"
#include "models/images/resize.h"

namespace vkf {

/// Bounds of a part's share of the picture's area, and of its width/height. The defaults are those with which timm and
/// torchvision train on ImageNet. Szegedy et al.: Going Deeper with Convolutions (CVPR 2015), section 6.
struct ResizedCrop {
    double least_area = 0.08, most_area = 1;
    double least_aspect = 3.0 / 4, most_aspect = 4.0 / 3;
};

/// Draws a part: the area's share is uniform, the aspect log-uniform, both sides are rounded to whole pixels, the place
/// is uniform. After ten parts that are larger than the picture, or empty, the part is the largest one in the middle
/// whose aspect is within the bounds (timm 0.3.2, RandomResizedCropAndInterpolation).
Box choose_resized_crop(Random& random, int width, int height, const ResizedCrop& crop = {});

/// The part `box` of a picture, which contains it, as a square: PIL's `crop(…).resize((side, side), BICUBIC)`.
Picture resized_crop(const Picture& picture, const Box& box, int side);

}  // namespace vkf
