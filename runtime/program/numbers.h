// Numbers as they lie in memory, and as the host has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/tensor.h"

namespace vkf {

/// f32 values of any format.
std::vector<float> floats_of(std::span<const std::byte> bytes, Format format);
/// The same the other way, rounded to the nearest, ties to even.
std::vector<std::byte> bytes_of(std::span<const float> values, Format format);
/// i32 values.
std::vector<std::int32_t> ints_of(std::span<const std::byte> bytes);

}  // namespace vkf
