// A stable sort on the device by small integers.
#pragma once

#include <cstdint>

#include "graph/op.h"

namespace vkf {

/// Numbers 0 … rows − 1, i32, sorted by their keys, i32 [rows] clamped to [0, key_count); equal keys stay in order.
///
/// An LSD radix sort by digits of 8 bits, two launches a digit, each workgroup with a section of the keys. Needs shared
/// memory and barriers: for GPUs. No order depends on timing.
Scratch sort_by_key(Lowering& to, Tensor keys, std::int64_t rows, std::int64_t key_count);

}  // namespace vkf
