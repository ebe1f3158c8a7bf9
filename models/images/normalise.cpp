#include "models/images/normalise.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace vkf {

Normaliser::Normaliser(const Statistics& statistics) {
    for (std::size_t c = 0; c < 3; ++c) {
        const auto deviation = static_cast<float>(statistics.deviation[c]);
        require(deviation > 0, "normalise: deviation ", deviation, " of channel ", c, ", wanted more than 0");
        mean_[c] = static_cast<float>(statistics.mean[c]);
        for (std::size_t v = 0; v < 256; ++v) value_[c][v] = (static_cast<float>(v) / 255.0f - mean_[c]) / deviation;
    }
}

void Normaliser::operator()(const Image& image, std::span<float> planes) const {
    const std::span<const std::uint8_t> bytes = image.bytes();
    require(planes.size() == bytes.size(), "normalise: room for ", planes.size(), " values, wanted ", bytes.size());
    const std::size_t plane = bytes.size() / 3;
    for (std::size_t c = 0; c < 3; ++c) {
        const std::uint8_t* in = bytes.data() + c;
        for (std::size_t i = 0; i < plane; ++i) planes[c * plane + i] = value_[c][in[3 * i]];
    }
}

void denormalise(std::span<const float> planes, const Statistics& statistics, Image& image) {
    const std::span<std::uint8_t> bytes = image.bytes();
    require(planes.size() == bytes.size(), "denormalise: ", planes.size(), " values, wanted ", bytes.size());
    const std::size_t plane = bytes.size() / 3;
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < plane; ++i) {
            const double value = planes[c * plane + i] * statistics.deviation[c] + statistics.mean[c];
            bytes[3 * i + c] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
        }
}

}  // namespace vkf
