// Check that a training run fits into memory, before anything is allocated or compiled.
#pragma once

#include <cstdint>
#include <functional>

#include "models/train/step_graphs.h"

namespace vkf {

class Device;
class RunOptions;

/// Loss of a micro-batch of `batch_size` rows; for an evaluation, with the outputs that evaluations need.
using BatchLoss = std::function<LossGraph(std::int64_t batch_size, bool evaluation)>;

/// Plans the run's programs and returns the bytes that they take. Throws Error unless the device has room for them; the
/// message gives the bytes they take, the free bytes, and options with which they would fit.
std::int64_t require_memory(const Device& device, const RunOptions& options, const BatchLoss& loss);

}  // namespace vkf
