// Whether a training run fits into memory, said before anything is allocated or compiled.
#pragma once

#include <cstdint>
#include <functional>

#include "models/train/step_graphs.h"

namespace vkf {

class Device;
class RunOptions;

/// The loss of a micro-batch of so many rows; for an evaluation, with the outputs that are wanted of one.
using BatchLoss = std::function<LossGraph(std::int64_t batch_size, bool evaluation)>;

/// Plans the run's programs and returns the bytes that they take. Throws Error unless the device has room for them; the
/// message says what they take, what is free, and with which options they would fit.
std::int64_t require_memory(const Device& device, const RunOptions& options, const BatchLoss& loss);

}  // namespace vkf
