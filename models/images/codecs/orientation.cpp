#include "models/images/codecs/orientation.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace vkf {
namespace {

// Numbers of a TIFF file in its byte order. Numbers outside of the file are 0.
class Tiff {
public:
    Tiff(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

    std::uint32_t number(std::size_t at, std::size_t size) const {
        if (at > bytes_.size() || size > bytes_.size() - at) return 0;
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value = value << 8 | std::to_integer<std::uint32_t>(bytes_[at + (big_endian_ ? i : size - 1 - i)]);
        return value;
    }

private:
    std::span<const std::byte> bytes_;
    bool big_endian_;
};

bool begins(std::span<const std::byte> bytes, std::string_view with) {
    return bytes.size() >= with.size() && std::memcmp(bytes.data(), with.data(), with.size()) == 0;
}

}  // namespace

int exif_orientation(std::span<const std::byte> exif) {
    constexpr std::string_view PREFIX("Exif\0\0", 6), LITTLE("II*\0", 4), BIG("MM\0*", 4);
    constexpr std::uint32_t ORIENTATION = 0x0112, BYTE = 1, SHORT = 3, LONG = 4;
    constexpr std::size_t ENTRY = 12;  // tag, type, count and value, of 2, 2, 4 and 4 bytes
    if (begins(exif, PREFIX)) exif = exif.subspan(PREFIX.size());
    if (!begins(exif, LITTLE) && !begins(exif, BIG)) return 1;
    const Tiff tiff(exif, begins(exif, BIG));
    const std::size_t directory = tiff.number(4, 4), entries = tiff.number(directory, 2);
    for (std::size_t i = 0; i < entries; ++i) {
        const std::size_t at = directory + 2 + i * ENTRY;
        if (tiff.number(at, 2) != ORIENTATION) continue;
        const std::uint32_t type = tiff.number(at + 2, 2), count = tiff.number(at + 4, 4);
        const std::size_t size = type == BYTE ? 1 : type == SHORT ? 2 : type == LONG ? 4 : 0;
        const std::uint32_t value = tiff.number(at + 8, size);
        return count == 1 && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
    return 1;
}

Picture upright(Picture picture, int orientation) {
    if (orientation == 1) return picture;
    // Rows and columns of the result are the file's columns, its rows, or either of them reversed.
    const bool swapped = orientation >= 5;  // 5 to 8: the file's columns are the result's rows
    const bool left = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool up = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    const auto width = static_cast<std::ptrdiff_t>(picture.width), height = static_cast<std::ptrdiff_t>(picture.height);
    const std::ptrdiff_t across = left ? -3 : 3, down = up ? -3 * width : 3 * width;
    const std::uint8_t* first = picture.rgb.data() + (left ? 3 * (width - 1) : 0) + (up ? 3 * width * (height - 1) : 0);
    Picture made{swapped ? picture.height : picture.width, swapped ? picture.width : picture.height,
                 std::vector<std::uint8_t>(picture.rgb.size())};
    const std::ptrdiff_t by_x = swapped ? down : across, by_y = swapped ? across : down;
    // Columns are read a few rows at a time, while their pixels are in the processor's cache.
    constexpr std::ptrdiff_t ROWS = 16;
    const std::ptrdiff_t pitch = std::ptrdiff_t{3} * made.width;
    for (std::ptrdiff_t top = 0; top < made.height; top += ROWS)
        for (std::ptrdiff_t x = 0; x < made.width; ++x)
            for (std::ptrdiff_t y = top; y < std::min<std::ptrdiff_t>(top + ROWS, made.height); ++y)
                std::memcpy(made.rgb.data() + y * pitch + 3 * x, first + y * by_y + x * by_x, 3);
    return made;
}

}  // namespace vkf
