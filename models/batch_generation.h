// Several texts written at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/continuation.h"
#include "models/generate.h"

namespace vkf {

/// What was done: tokens and seconds, of the prompts and of what follows them.
struct GenerationTimes {
    std::size_t begun = 0, finished = 0;  // texts
    std::int64_t read = 0, written = 0;
    double reading = 0, writing = 0;
    double first_token = 0;  // from the beginning to the first token of the first text
};

/// Writes all texts, in order, as many at once as the generator has rows: where one has ended the next one begins
/// (continuous batching). A text's tokens do not depend on those beside it. `step` is called whenever texts have grown,
/// with what has been done, and says whether to go on; if not, they are left as they are.
GenerationTimes generate_all(Generator& generator, std::span<Continuation> texts,
                             const std::function<bool(const GenerationTimes&)>& step);

}  // namespace vkf
