// Images as sequences of grey values: the image task of Long Range Arena (Tay et al., 2020).
#pragma once

#include <cstdint>
#include <string>

#include "models/images/codecs/picture.h"

namespace vkf {

/// Grey value of a pixel, 0.2989 R + 0.587 G + 0.114 B, by the rule of TensorFlow's rgb_to_grayscale for bytes: the sum
/// of colours from 0 to 1 is multiplied by 255.5 and rounded down. Exact integers, where TensorFlow has fp32.
std::uint8_t grey_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue);

/// Grey values of a picture's pixels in decimal with spaces between them, rows from the top.
std::string grey_sequence(const Picture& picture);

}  // namespace vkf
