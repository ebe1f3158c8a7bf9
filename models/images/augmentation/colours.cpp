// Operations that change values and do not move pixels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <glm/vec3.hpp>

#include "base/error.h"
#include "models/images/augmentation/operations.h"

namespace vkf {
namespace {

using glm::ivec3;
using ByteTable = std::array<std::uint8_t, 256>;
using Counts = std::array<std::uint32_t, 256>;

std::uint8_t byte(int v) {
    return static_cast<std::uint8_t>(std::clamp(v, 0, 255));
}

/// Maps all channels by one table: entry i is value(i).
template <class Value>
void map_values(Image& image, Value&& value) {
    ByteTable table;
    for (int i = 0; i < 256; ++i) table[static_cast<std::size_t>(i)] = value(i);
    for (std::uint8_t& v : image.bytes()) v = table[v];
}

/// Maps each channel by a table that is made from the channel's histogram.
template <class Tabulate>
void map_channels(Image& image, Tabulate&& tabulate) {
    std::array<Counts, 3> counts = {};
    const std::span<std::uint8_t> bytes = image.bytes();
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        for (std::size_t c = 0; c < 3; ++c) ++counts[c][bytes[i + c]];
    }
    std::array<ByteTable, 3> tables;
    for (std::size_t c = 0; c < 3; ++c) tabulate(counts[c], tables[c]);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        for (std::size_t c = 0; c < 3; ++c) bytes[i + c] = tables[c][bytes[i + c]];
    }
}

void leave(ByteTable& table) {
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(i);
}

/// PIL blends in fp32, in this order, which differs from glm::mix, and truncates.
std::uint8_t blend(int removed, int value, float factor) {
    const float v = static_cast<float>(removed) + factor * static_cast<float>(value - removed);
    return static_cast<std::uint8_t>(std::clamp(v, 0.0f, 255.0f));
}

Rgb blend(ivec3 removed, Rgb value, float factor) {
    return {blend(removed.r, value.r, factor), blend(removed.g, value.g, factor), blend(removed.b, value.b, factor)};
}

float checked_factor(double factor) {
    require(std::abs(factor) <= 1e6, "image: enhancement by ", factor, ", wanted -1e6 to 1e6");
    return static_cast<float>(factor);
}

/// ITU-R 601 luma in 16-bit fixed point.
int luma(Rgb pixel) {
    return (19595 * pixel.r + 38470 * pixel.g + 7471 * pixel.b + 32768) >> 16;
}

}  // namespace

void invert(Image& image) {
    for (std::uint8_t& v : image.bytes()) v = static_cast<std::uint8_t>(255 - v);
}

void posterize(Image& image, int bits) {
    require(bits >= 0 && bits <= 8, "image: posterize to ", bits, " bits, wanted 0 to 8");
    const auto mask = static_cast<std::uint8_t>(0xff00 >> bits);
    for (std::uint8_t& v : image.bytes()) v = static_cast<std::uint8_t>(v & mask);
}

void solarize(Image& image, double threshold) {
    map_values(image, [&](int v) { return byte(v < threshold ? v : 255 - v); });
}

void solarize_add(Image& image, double addition, double threshold) {
    require(std::isfinite(addition), "image: solarize after adding ", addition, ", wanted a number");
    map_values(image, [&](int v) {
        const int sum = static_cast<int>(std::clamp(v + addition, 0.0, 255.0));
        return byte(sum < threshold ? sum : 255 - sum);
    });
}

void brighten_dark(Image& image, int addition, int threshold) {
    require(addition >= 0 && addition <= 255, "image: brightening by ", addition, ", wanted 0 to 255");
    map_values(image, [&](int v) { return byte(v < threshold ? std::min(v + addition, 255) : v); });
}

void autocontrast(Image& image) {
    map_channels(image, [](const Counts& counts, ByteTable& table) {
        int low = 0, high = 255;
        while (low < 255 && !counts[static_cast<std::size_t>(low)]) ++low;
        while (high > 0 && !counts[static_cast<std::size_t>(high)]) --high;
        if (high <= low) return leave(table);
        const double scale = 255.0 / (high - low), offset = -low * scale;
        for (int i = 0; i < 256; ++i) table[static_cast<std::size_t>(i)] = byte(static_cast<int>(i * scale + offset));
    });
}

void equalize(Image& image) {
    const auto pixels = static_cast<std::uint32_t>(image.bytes().size() / 3);
    map_channels(image, [&](const Counts& counts, ByteTable& table) {
        std::size_t last = 255;
        while (!counts[last]) --last;  // some bin holds the pixels
        const std::uint32_t step = (pixels - counts[last]) / 255;
        if (step == 0) return leave(table);
        std::uint32_t below = step / 2;
        for (std::size_t i = 0; i < 256; ++i) {
            table[i] = static_cast<std::uint8_t>(std::min<std::uint32_t>(below / step, 255));
            below += counts[i];
        }
    });
}

void color(Image& image, double factor) {
    const float alpha = checked_factor(factor);
    for (Rgb& pixel : image.pixels()) pixel = blend(ivec3(luma(pixel)), pixel, alpha);
}

void contrast(Image& image, double factor) {
    const float alpha = checked_factor(factor);
    std::int64_t sum = 0;
    for (const Rgb& pixel : image.pixels()) sum += luma(pixel);
    const auto pixels = static_cast<double>(image.pixels().size());
    const int grey = static_cast<int>(static_cast<double>(sum) / pixels + 0.5);
    map_values(image, [&](int v) { return blend(grey, v, alpha); });
}

void brightness(Image& image, double factor) {
    const float alpha = checked_factor(factor);
    map_values(image, [&](int v) { return blend(0, v, alpha); });
}

void sharpness(Image& image, double factor) {
    const float alpha = checked_factor(factor);
    const int width = image.width(), height = image.height();
    image.prepare_spare();
    std::copy_n(&image.at(0, 0), width, &image.spare_at(0, 0));
    for (int y = 1; y < height - 1; ++y) {
        image.spare_at(0, y) = image.at(0, y);
        image.spare_at(width - 1, y) = image.at(width - 1, y);
        const std::array<const Rgb*, 3> rows = {&image.at(0, y - 1), &image.at(0, y), &image.at(0, y + 1)};
        for (int x = 1; x < width - 1; ++x) {
            ivec3 sum = 4 * ivec3(rows[1][x]);
            for (const Rgb* row : rows) sum += ivec3(row[x - 1]) + ivec3(row[x]) + ivec3(row[x + 1]);
            // sum/13 is never a whole number and a half, so rounding in integers is rounding in fp32.
            image.spare_at(x, y) = blend((2 * sum + 13) / 26, rows[1][x], alpha);
        }
    }
    std::copy_n(&image.at(0, height - 1), width, &image.spare_at(0, height - 1));
    image.take_spare();
}

}  // namespace vkf
