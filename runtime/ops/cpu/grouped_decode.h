// Several products of one matrix that has few rows, in one launch, on CPU devices.
#pragma once

#include <vector>

#include "ops/matmul/gemm.h"

namespace vkf {

/// Appends products of the same `a` by `config`, a configuration of matmul_decode.comp or matmul_decode_unrolled.comp
/// without splits: in one launch, or in one per three products if unrolled. Products have equal layouts, and equal
/// pitches of b if unrolled. The results have the same bits as those of products by themselves.
void append_grouped_decode(Lowering& lowering, const std::vector<GemmCall>& calls, const KernelConfig& config);

}  // namespace vkf
