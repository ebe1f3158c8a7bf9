// Normalises bytes for a network: (value/255 - mean) / deviation, channel by channel.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/images/image.h"

namespace vkf {

/// Mean and standard deviation of the data's channels, values in 0 … 1.
struct Statistics {
    std::array<double, 3> mean, deviation;
};

// Each recipe publishes its own values; they differ.
inline constexpr Statistics kk_cifar10 = {{.4914, .4822, .4465}, {.2023, .1994, .2010}};
inline constexpr Statistics kk_cifar100 = {{.5071, .4867, .4408}, {.2675, .2565, .2761}};
inline constexpr Statistics sl_cifar10 = {{.4914, .4822, .4465}, {.2470, .2435, .2616}};
inline constexpr Statistics sl_cifar100 = {{.5070, .4865, .4409}, {.2673, .2564, .2762}};

/// (value/255 - mean) / deviation for every byte and channel.
/// Numerics: fp32, every operation rounded, as torchvision's ToTensor and Normalize.
class Normaliser {
public:
    /// Throws: InputError unless every deviation is positive.
    explicit Normaliser(const Statistics& statistics);

    /// Shapes: planes [3, height, width].
    /// Throws: InputError if the planes have another size.
    void operator()(const Image& image, std::span<float> planes) const;

    /// Channel means as fp32: values of erased pixels after normalisation in the recipe that erases.
    std::array<float, 3> mean() const { return mean_; }

private:
    std::array<std::array<float, 256>, 3> value_;
    std::array<float, 3> mean_;
};

/// Sets the image to value·deviation + mean as the nearest bytes, clamped at 0 and 255: the inverse of normalisation.
/// Shapes: planes [3, height, width].
/// Throws: InputError if the planes have another size than the image.
void denormalise(std::span<const float> planes, const Statistics& statistics, Image& image);

}  // namespace vkf
