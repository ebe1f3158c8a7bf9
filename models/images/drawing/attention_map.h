// Shows numbers of patches, such as attention weights, over their image.
#pragma once

#include <span>

#include "models/images/image.h"

namespace vkf {

/// The image under a map of colours: the patches' numbers from their least to their greatest, interpolated linearly
/// between the patches' centres.
/// Shapes: map [n·n], n patches along a side.
/// Throws: InputError unless the map is a square.
Image overlay(const Image& image, std::span<const double> map);

}  // namespace vkf
