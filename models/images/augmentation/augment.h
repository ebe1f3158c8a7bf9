// Augmentation recipes: processing of a training image between the file and the network.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/random.h"
#include "models/images/image.h"
#include "models/images/normalise.h"

namespace vkf {

/// none           normalise
/// crop-flip      crop with 4 pixels of zeros around, flip with probability 1/2, normalise
/// randaugment    two operations of RandAugment, crop, flip, normalise
/// autoaugment    flip, crop, the policy of AutoAugment, normalise, erase with probability 1/4
enum class Augmentation { none, crop_flip, randaugment, autoaugment };

/// Parses one of the words above.
/// Throws: InputError naming the word and the known ones.
Augmentation augmentation_named(std::string_view word);

/// Random erasing: area uniform in 2 … 40 % of the image, height/width uniform (not in the logarithm) in 0.3 … 1/0.3,
/// both sides rounded and less than the image's, the place uniform; up to 100 attempts.
/// Zhong, Zheng, Kang, Li, Yang: Random Erasing Data Augmentation (AAAI 2020), with the fixed fill of the recipe.
std::optional<Box> choose_erasing(Random& random, int width, int height, double probability = 0.25);

/// Makes training and evaluation inputs from images of one size. The result depends on the seed, the epoch and the
/// image's place in the epoch's order, not on earlier images: threads share only the data, and each has its own
/// augmenter (which holds the current image).
class Augmenter {
public:
    struct Options {
        Augmentation augmentation = Augmentation::none;
        Statistics statistics = sl_cifar10;
        std::uint64_t seed = 0;
        int width = 32, height = 32;
    };
    explicit Augmenter(const Options& options);

    /// `place` counts the images of an epoch, from 0. It is not the image's number in the data, because an epoch may
    /// show an image more than once, differently each time.
    /// Shapes: planes, out [3, height, width].
    /// Throws: InputError if a size is wrong or a number is 2^32 or more.
    void train(std::span<const std::uint8_t> planes, std::uint64_t epoch, std::uint64_t place, std::span<float> out);

    /// Only normalises.
    void evaluate(std::span<const std::uint8_t> planes, std::span<float> out);

private:
    Options options_;
    Normaliser normalise_;
    Image image_;
};

}  // namespace vkf
