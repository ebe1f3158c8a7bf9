#include "models/data/sequences/grey_pixels.h"

namespace vkf {

std::uint8_t grey_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
    const std::int64_t sum = 2989 * std::int64_t{red} + 5870 * std::int64_t{green} + 1140 * std::int64_t{blue};
    return static_cast<std::uint8_t>(sum * 511 / (2 * 255 * 10'000));
}

std::string grey_sequence(const Picture& picture) {
    std::string words;
    words.reserve(picture.rgb.size() / 3 * 4);
    for (std::size_t i = 0; i + 2 < picture.rgb.size(); i += 3) {
        if (i > 0) words += ' ';
        words += std::to_string(grey_of(picture.rgb[i], picture.rgb[i + 1], picture.rgb[i + 2]));
    }
    return words;
}

}  // namespace vkf
