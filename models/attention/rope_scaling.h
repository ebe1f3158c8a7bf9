// Scaling of the frequencies of rotary positions ("rope_scaling" in config.json), by which a model reads longer
// contexts than it was first trained on.
#pragma once

#include <cstdint>
#include <vector>

#include "models/config/field.h"

namespace vkf {

/// Fields have the names of Hugging Face's keys.
struct RopeScaling {
    enum class Type : std::uint8_t { unscaled, linear, llama3 };

    Type type = Type::unscaled;
    float factor = 1.0f;  // by which wave lengths grow: all of them (linear) or the long ones (llama3)
    float low_freq_factor = 1.0f, high_freq_factor = 4.0f;  // waves per context: long up to low, short from high on
    std::int64_t original_max_position_embeddings = 8192;   // context length of the first training

    bool operator==(const RopeScaling&) const = default;

    /// Fields of the type, and of the values that this type needs.
    std::vector<Field> fields();
};

/// Throws InputError if the fields contradict each other.
void check(const RopeScaling& scaling);

/// Frequencies theta^(−2i/width) for i = 0 … width/2 − 1, scaled, in radians per position.
std::vector<double> rope_frequencies(std::int64_t width, double theta, const RopeScaling& scaling = {});

}  // namespace vkf
