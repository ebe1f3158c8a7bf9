// Several texts written at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/generation/continuation.h"
#include "models/generation/generate.h"

namespace vkf {

/// Work done: tokens and seconds, of the prompts and of the texts that follow them.
struct GenerationTimes {
    std::size_t begun = 0, finished = 0;  // texts
    std::int64_t read = 0, written = 0;
    double reading = 0, writing = 0;
    double first_token = 0;  // seconds from the beginning to the first token of the first text
};

/// Writes all texts, in order, as many at once as the generator has rows; when a text ends, the next one takes its row
/// (continuous batching). A text's tokens do not depend on the other texts. `step` is called whenever texts have grown,
/// with the work done. If it returns false, writing stops and the texts stay as they are.
GenerationTimes generate_all(Generator& generator, std::span<Continuation> texts,
                             const std::function<bool(const GenerationTimes&)>& step);

}  // namespace vkf
