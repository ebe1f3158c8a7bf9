// Stable sort on the device by small integers.
#pragma once

#include <cstdint>

#include "graph/op.h"

namespace vkf {

/// Numbers 0 … rows − 1, i32, sorted by their keys, i32 [rows] clamped to [0, key_count); equal keys stay in order.
///
/// LSD radix sort by digits of 8 bits, with two launches per digit; each workgroup has a section of the keys. For GPUs,
/// because it needs shared memory and barriers. No order depends on timing.
Scratch sort_by_key(Lowering& lowering, Tensor keys, std::int64_t rows, std::int64_t key_count);

}  // namespace vkf
