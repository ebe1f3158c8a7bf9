// Augmentation recipes: processing of a training image between the file and the network.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/random.h"
#include "models/images/augmentation/operations.h"
#include "models/images/augmentation/resized_crop.h"
#include "models/images/augmentation/timm_randaugment.h"
#include "models/images/image.h"
#include "models/images/normalise.h"
#include "models/images/resize.h"

namespace vkf {

/// none                 normalise
/// crop-flip            crop with 4 pixels of zeros around, flip with probability 1/2, normalise
/// resized-crop-flip    resize a random part of the picture to the square, flip with probability 1/2, normalise
/// randaugment          two operations of RandAugment, crop, flip, normalise
/// autoaugment          flip, crop, the policy of AutoAugment, normalise, erase with probability 1/4
///
/// All but resized-crop-flip begin with a square, which bicubic interpolation brings to the batch's side.
enum class Augmentation { none, crop_flip, resized_crop_flip, randaugment, autoaugment };

/// Parses one of the words above.
/// Throws: InputError naming the word and the known ones.
Augmentation augmentation_named(std::string_view word);

/// Random erasing: a box of a share of the image that is uniform in 0.02 … `most_area`, of height/width in 0.3 … 1/0.3,
/// both sides rounded and less than the image's, the place uniform. The defaults are those of the autoaugment recipe.
/// Zhong, Zheng, Kang, Li, Yang: Random Erasing Data Augmentation (AAAI 2020).
struct Erasing {
    double probability = 0.25;
    double most_area = 0.4;
    bool log_aspect = false;  // the logarithm of height/width is uniform, not height/width itself
    int attempts = 100;
};

/// timm's RandomErasing at its defaults but for the probability.
constexpr Erasing timm_erasing(double probability) {
    return {.probability = probability, .most_area = 1.0 / 3, .log_aspect = true, .attempts = 10};
}

/// Draws a box, or none.
std::optional<Box> choose_erasing(Random& random, int width, int height, const Erasing& erasing = {});

/// Makes training and evaluation inputs, squares of any side, from pictures. The result depends on the
/// seed, the epoch and the image's place in the epoch's order, not on earlier images: threads share only the data, and
/// each has its own augmenter (which holds the current image).
class Augmenter {
public:
    struct Options {
        Augmentation augmentation = Augmentation::none;
        Statistics statistics = sl_cifar10;
        std::uint64_t seed = 0;
        double noise_erasing = 0;  // probability with which a box of timm_erasing() becomes N(0, 1), after all else
        ResizedCrop crop = {};     // of resized-crop-flip
        std::optional<TimmRandAugment> operations = {};  // after the crop and flip of both kinds
    };
    explicit Augmenter(const Options& options);

    /// `place` counts the images of an epoch, from 0. It is not the image's number in the data, because an epoch may
    /// show an image more than once, differently each time.
    /// Shapes: picture [H, W, 3], H = W but for resized-crop-flip; out [3, side, side].
    /// Throws: InputError if a size is wrong or a number is 2^32 or more.
    void train(const Picture& picture, int side, std::uint64_t epoch, std::uint64_t place, std::span<float> out);

    /// Only brings a square to the side and normalises.
    void evaluate(const Picture& square, int side, std::span<float> out);

private:
    void take(const Picture& square);
    void take_resized(const Picture& square, int side);

    Options options_;
    Normaliser normalise_;
    AugmentStyle style_;  // of `operations`
    Image image_;
};

}  // namespace vkf
