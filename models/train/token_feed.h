// Batches of tokens on their way into a language model's programs.
#pragma once

#include "models/data/batches.h"
#include "models/train/trainer.h"

namespace vkf {

/// Into the inputs that language_loss declares.
inline void write_batch(Program& program, const Batch& batch) {
    program.write("tokens", batch.tokens);
    program.write("targets", batch.targets);
}

inline Feed feed_of(const Batches& batches) {
    return [&batches](Program& program, std::uint64_t number) { write_batch(program, batches.at(number)); };
}

}  // namespace vkf
