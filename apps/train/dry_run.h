// Cost of a training run, estimated from its first steps.
#pragma once

#include <cstdint>
#include <string>

#include "apps/train/train_loop.h"

namespace vkf {

/// Prints the run's parameters, its memory on the device (`device_bytes` are planned) and on the host, and the time of
/// a step, of an evaluation and of the whole run, estimated from a few measured steps. Trains the trainer, but writes
/// no file, except `trace`, if that is a path: the timeline of three further steps (StepTrace). Throws Error if a loss
/// is not finite, or if there is to be a trace and the device has no timestamps.
void dry_run(Trainer& trainer, const TrainLoop& loop, std::int64_t device_bytes, const std::string& trace,
             const Common& common);

}  // namespace vkf
