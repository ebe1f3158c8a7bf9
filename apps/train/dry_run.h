// Cost of a training run, estimated from its first steps.
#pragma once

#include <cstdint>

#include "apps/train/train_loop.h"

namespace vkf {

/// Prints the run's parameters, its memory on the device (`device_bytes` are planned) and on the host, and the time of
/// a step, of an evaluation and of the whole run, estimated from a few measured steps. Writes no file, but trains the
/// trainer. Throws Error if a loss is not finite.
void dry_run(Trainer& trainer, const TrainLoop& loop, std::int64_t device_bytes, const Common& common);

}  // namespace vkf
