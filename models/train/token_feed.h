// Batches of tokens for a language model's programs.
#pragma once

#include "models/data/batches.h"
#include "models/train/trainer.h"

namespace vkf {

/// Writes each stream of a batch into the input of its name.
inline void write_batch(Program& program, const Batch& batch) {
    for (const auto& [name, values] : batch) program.write(name, values);
}

inline Feed feed_of(const Batches& batches) {
    return [&batches](Program& program, std::uint64_t number) { write_batch(program, batches.at(number)); };
}

}  // namespace vkf
