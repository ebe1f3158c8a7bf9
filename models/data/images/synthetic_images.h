// Ten classes of drawn images in CIFAR-10's layout, for tests and for trials without a download.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/data/images/cifar.h"
#include "models/data/images/image_set.h"

namespace vkf {

/// The classes, in the order of their labels.
extern const std::array<std::string_view, 10> SYNTHETIC_NAMES;

/// Record i of a split: its label and a 32×32 image of that pattern or shape, at a random place, size, angle or phase,
/// in two random colours, with noise. Either colour may be the brighter one, so a class has no typical pixel and a
/// linear classifier learns little. A pure function of (seed, split, i), computed without the C library's functions, so
/// that every machine makes the same bytes. Records 10k to 10k + 9 have one image of each class.
std::array<std::uint8_t, 1 + CIFAR_PIXELS> synthetic_record(std::uint64_t seed, std::string_view split,
                                                            std::uint64_t i);

/// The first `count` training images of a seed, in memory; there are no test images.
ImageSet synthetic_images(std::uint64_t seed, std::size_t count);

}  // namespace vkf
