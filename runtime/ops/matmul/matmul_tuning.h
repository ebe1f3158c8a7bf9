// Choice of a matrix product's kernel, by the autotuner if there is one.
#pragma once

#include "graph/autotuner.h"
#include "ops/matmul/gemm.h"

namespace vkf {

/// The kernel for a product, chosen by the autotuner, or without one by a model of the device. Throws InputError if a
/// pitch is too large for every kernel of the device.
KernelConfig gemm_config(const DeviceTraits& device, const GemmCall& call);

/// The product's problem for an autotuner; `list` are the candidates. Products share one problem if they have the same
/// layout, formats and alignment, and equal extents after rounding rows up to powers of two and widths up to eighths
/// between these. Nearly all widths of models are such multiples, and 2304 columns need another tile than 4096.
TuningProblem tuning_problem(const DeviceTraits& device, const GemmCall& call, std::span<const KernelConfig> list);

}  // namespace vkf
