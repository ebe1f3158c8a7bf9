// The operations that change values and leave pixels where they are.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "models/images/operations.h"

namespace vkf {
namespace {

using Table = std::array<std::uint8_t, 256>;
using Counts = std::array<std::uint32_t, 256>;

std::uint8_t byte(int v) {
    return static_cast<std::uint8_t>(std::clamp(v, 0, 255));
}

/// One table for all channels: entry i is value(i).
template <class Value>
void map_values(Image& image, Value&& value) {
    Table table;
    for (int i = 0; i < 256; ++i) table[static_cast<std::size_t>(i)] = value(i);
    for (std::uint8_t& v : image.bytes()) v = table[v];
}

/// A table for each channel, made from the channel's histogram.
template <class Tabulate>
void map_channels(Image& image, Tabulate&& tabulate) {
    std::array<Counts, 3> counts = {};
    const std::span<std::uint8_t> bytes = image.bytes();
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        for (std::size_t c = 0; c < 3; ++c) ++counts[c][bytes[i + c]];
    }
    std::array<Table, 3> tables;
    for (std::size_t c = 0; c < 3; ++c) tabulate(counts[c], tables[c]);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        for (std::size_t c = 0; c < 3; ++c) bytes[i + c] = tables[c][bytes[i + c]];
    }
}

void leave(Table& table) {
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(i);
}

/// PIL blends in fp32 and truncates.
std::uint8_t blend(int removed, int value, float factor) {
    const float v = static_cast<float>(removed) + factor * static_cast<float>(value - removed);
    return static_cast<std::uint8_t>(std::clamp(v, 0.0f, 255.0f));
}

float checked_factor(double factor) {
    require(std::abs(factor) <= 1e6, "image: enhancement by ", factor, ", wanted -1e6 to 1e6");
    return static_cast<float>(factor);
}

/// ITU-R 601 luma in 16-bit fixed point.
int luma(const std::uint8_t* pixel) {
    return (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768) >> 16;
}

}  // namespace

void invert(Image& image) {
    for (std::uint8_t& v : image.bytes()) v = static_cast<std::uint8_t>(255 - v);
}

void posterize(Image& image, int bits) {
    require(bits >= 1 && bits <= 8, "image: posterize to ", bits, " bits, wanted 1 to 8");
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

void autocontrast(Image& image) {
    map_channels(image, [](const Counts& counts, Table& table) {
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
    map_channels(image, [&](const Counts& counts, Table& table) {
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
    const std::span<std::uint8_t> bytes = image.bytes();
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const int grey = luma(&bytes[i]);
        for (std::size_t c = 0; c < 3; ++c) bytes[i + c] = blend(grey, bytes[i + c], alpha);
    }
}

void contrast(Image& image, double factor) {
    const float alpha = checked_factor(factor);
    const std::span<const std::uint8_t> bytes = image.bytes();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 3) sum += luma(&bytes[i]);
    const auto pixels = static_cast<double>(bytes.size() / 3);
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
    std::copy_n(image.at(0, 0), 3 * width, image.spare_at(0, 0));
    for (int y = 1; y < height - 1; ++y) {
        const std::uint8_t* const above = image.at(0, y - 1);
        const std::uint8_t* const here = image.at(0, y);
        const std::uint8_t* const below = image.at(0, y + 1);
        std::uint8_t* const out = image.spare_at(0, y);
        std::copy_n(here, 3, out);
        std::copy_n(here + 3 * (width - 1), 3, out + 3 * (width - 1));
        for (int i = 3; i < 3 * (width - 1); ++i) {
            const int sum = above[i - 3] + above[i] + above[i + 3] + here[i - 3] + 5 * here[i] + here[i + 3] +
                            below[i - 3] + below[i] + below[i + 3];
            // sum/13 is never a whole number and a half, so rounding in integers is rounding in fp32.
            out[i] = blend((2 * sum + 13) / 26, here[i], alpha);
        }
    }
    std::copy_n(image.at(0, height - 1), 3 * width, image.spare_at(0, height - 1));
    image.take_spare();
}

}  // namespace vkf
