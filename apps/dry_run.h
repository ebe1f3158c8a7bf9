// What a training run would take, seen from its first steps.
#pragma once

#include <cstdint>

#include "apps/train_loop.h"

namespace vkf {

/// Prints the run's parameters, its memory on the device, of which so many bytes are planned, and on the host, and by a
/// few measured steps the time of one, of an evaluation and of the whole run. Leaves no file, and the trainer trained.
/// Throws Error if a loss is not finite.
void dry_run(Trainer& trainer, const TrainLoop& loop, std::int64_t device_bytes, const Common& common);

}  // namespace vkf
