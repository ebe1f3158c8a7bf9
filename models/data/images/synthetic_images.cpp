#include "models/data/images/synthetic_images.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/random.h"

namespace vkf {
namespace {

constexpr float SIDE = static_cast<float>(CIFAR_SIDE);
constexpr float NOISE = 24.0f;           // half the width of the noise's triangle, in steps of 1/255
constexpr float LEAST_CONTRAST = 60.0f;  // between the two colours, in at least one channel

enum Class { horizontal, vertical, diagonal, checks, disc, ring, square, cross, triangle, gradient };

using Colour = std::array<float, 3>;

// 0 inside, 1 outside, over one pixel around a distance of 0.
float edge(float distance) {
    return std::clamp(distance + 0.5f, 0.0f, 1.0f);
}

// A triangle wave of period 1 between -1 and 1.
float wave(float phase) {
    return 4.0f * std::abs(phase - std::floor(phase) - 0.5f) - 1.0f;
}

// Parameters of one image; each class uses those that it needs.
struct Drawing {
    explicit Drawing(Random& random, int label)
        : pattern(label),
          radius(5.0f + 5.0f * random.uniform()),
          x(radius + (SIDE - 2 * radius) * random.uniform()),
          y(radius + (SIDE - 2 * radius) * random.uniform()),
          period(5.0f + 5.0f * random.uniform()),
          phase_x(random.uniform()),
          phase_y(random.uniform()),
          flipped(random.bits() & 1u ? -1.0f : 1.0f),
          slope_x(2.0f * random.uniform() - 1.0f),
          slope_y(2.0f * random.uniform() - 1.0f) {}

    // Share of the second colour at a point.
    float at(float u, float v) const {
        const float du = u - x, dv = v - y;
        const float far = std::sqrt(du * du + dv * dv);
        const float wide = std::max(std::abs(du), std::abs(dv)), narrow = std::min(std::abs(du), std::abs(dv));
        const float band = 0.25f * period;  // half a wave's flank, in pixels
        switch (pattern) {
            case horizontal:
                return edge(band * wave(v / period + phase_y));
            case vertical:
                return edge(band * wave(u / period + phase_x));
            case diagonal:
                return edge(band * wave((u + flipped * v) / (1.4142f * period) + phase_x));
            case checks:
                return edge(band * wave(u / period + phase_x) * wave(v / period + phase_y));
            case disc:
                return edge(far - radius);
            case ring:
                return edge(std::abs(far - 0.8f * radius) - 0.2f * radius);
            case square:
                return edge(wide - 0.85f * radius);
            case cross:
                return edge(std::max(narrow - 0.25f * radius, wide - radius));
            case triangle:
                return edge(std::max(0.9f * std::abs(du) + 0.45f * flipped * dv, -flipped * dv) - 0.5f * radius);
            default:
                return std::clamp(0.5f + (slope_x * (u - SIDE / 2) + slope_y * (v - SIDE / 2)) / SIDE, 0.0f, 1.0f);
        }
    }

    int pattern;
    float radius, x, y, period, phase_x, phase_y, flipped, slope_x, slope_y;
};

// Two colours that can be distinguished.
std::array<Colour, 2> colours(Random& random) {
    for (;;) {
        std::array<Colour, 2> two;
        float contrast = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            for (Colour& colour : two) colour[c] = 255.0f * random.uniform();
            contrast = std::max(contrast, std::abs(two[0][c] - two[1][c]));
        }
        if (contrast >= LEAST_CONTRAST) return two;
    }
}

}  // namespace

const std::array<std::string_view, 10> SYNTHETIC_NAMES = {"horizontal", "vertical", "diagonal", "checks",   "disc",
                                                          "ring",       "square",   "cross",    "triangle", "gradient"};

std::array<std::uint8_t, 1 + CIFAR_PIXELS> synthetic_record(std::uint64_t seed, std::string_view split,
                                                            std::uint64_t i) {
    const std::string name = text("synthetic-images/", split);
    const std::size_t label = Random(seed, name + "/labels", i / 10).permutation(10)[i % 10];
    Random random(seed, name, i);
    const Drawing drawing(random, static_cast<int>(label));
    const auto two = colours(random);
    std::array<std::uint8_t, 1 + CIFAR_PIXELS> record;
    record[0] = static_cast<std::uint8_t>(label);
    for (std::size_t at = 0; at < CIFAR_SIDE * CIFAR_SIDE; ++at) {
        const float mix =
            drawing.at(static_cast<float>(at % CIFAR_SIDE) + 0.5f, static_cast<float>(at / CIFAR_SIDE) + 0.5f);
        for (std::size_t c = 0; c < 3; ++c) {
            const std::uint32_t bits = random.bits();
            const float noise = NOISE * (unit_float(bits) - unit_float(bits << 16));
            const float value = two[0][c] + mix * (two[1][c] - two[0][c]) + noise;
            record[1 + c * CIFAR_SIDE * CIFAR_SIDE + at] =
                static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f) + 0.5f);
        }
    }
    return record;
}

ImageSet synthetic_images(std::uint64_t seed, std::size_t count) {
    ImageSet set;
    set.side = CIFAR_SIDE;
    set.class_names.assign(SYNTHETIC_NAMES.begin(), SYNTHETIC_NAMES.end());
    set.train = Images(CIFAR_SIDE);
    std::vector<std::uint8_t>& pixels = set.decoded.emplace_back(count * CIFAR_PIXELS);
    for (std::size_t i = 0; i < count; ++i) {
        const auto record = synthetic_record(seed, "train", i);
        std::uint8_t* const image = pixels.data() + i * CIFAR_PIXELS;
        std::copy(record.begin() + 1, record.end(), image);
        set.train.add(image, record[0]);
    }
    return set;
}

}  // namespace vkf
