// Converts numbers between their formats in memory and the host's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/tensor.h"

namespace vkf {

/// Reads f32 values of any format.
std::vector<float> floats_of(std::span<const std::byte> bytes, Format format);
/// Converts f32 values to a format, rounded to the nearest, ties to even.
std::vector<std::byte> bytes_of(std::span<const float> values, Format format);
/// Reads i32 values.
std::vector<std::int32_t> ints_of(std::span<const std::byte> bytes);

}  // namespace vkf
