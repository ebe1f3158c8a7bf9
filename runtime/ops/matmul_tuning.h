// Which of its kernels computes a matrix product: the autotuner's answer where there is one.
#pragma once

#include "graph/autotuner.h"
#include "ops/gemm.h"

namespace vkf {

/// The kernel for a product: the autotuner's choice, or without one the model's.
KernelConfig gemm_config(const DeviceTraits& device, const GemmCall& call);

/// What an autotuner is asked about the product: `list` are its candidates. Products with the same layout, formats and
/// alignment, and the same extents when rows are rounded up to powers of two and widths to eighths between them, are
/// tuned as one. A model's widths are nearly all such, and 2304 columns take another tile than 4096.
TuningProblem tuning_problem(const DeviceTraits& device, const GemmCall& call, std::span<const KernelConfig> list);

}  // namespace vkf
