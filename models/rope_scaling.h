// What "rope_scaling" in config.json does to the frequencies of rotary positions, so that a model reads longer contexts
// than it was first trained on.
#pragma once

#include <cstdint>
#include <vector>

#include "models/field.h"

namespace vkf {

/// Hugging Face's keys.
struct RopeScaling {
    enum class Type : std::uint8_t { unscaled, linear, llama3 };

    Type type = Type::unscaled;
    float factor = 1.0f;  // by which wave lengths grow: all of them, or of llama3 the long ones
    float low_freq_factor = 1.0f, high_freq_factor = 4.0f;  // waves that fit so often into the context are long, short
    std::int64_t original_max_position_embeddings = 8192;   // the context of the first training

    bool operator==(const RopeScaling&) const = default;

    /// The type, and what it asks for.
    std::vector<Field> fields();
};

/// Throws InputError if its fields contradict each other.
void check(const RopeScaling& scaling);

/// theta^(−2i/width) for i = 0 … width/2 − 1, scaled: in radians per position.
std::vector<double> rope_frequencies(std::int64_t width, double theta, const RopeScaling& scaling = {});

}  // namespace vkf
