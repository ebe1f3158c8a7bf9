#include "models/images/augmentation/augment.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/images/augmentation/autoaugment.h"
#include "models/images/augmentation/randaugment.h"
#include "models/images/drawing/draw.h"

namespace vkf {
namespace {

constexpr int padding = 4;

void random_flip(Image& image, Random& random) {
    if (happens(random, 0.5)) flip(image);
}

/// Crops to one of the 9 x 9 windows of the padded image.
void random_crop(Image& image, Random& random) {
    const int left = index_below(random, 2 * padding + 1), top = index_below(random, 2 * padding + 1);
    crop(image, left - padding, top - padding, image.width(), image.height());
}

/// Fills a box, if there is one: `value` is called with the channel for each value.
template <class Value>
void erase(const std::optional<Box>& box, std::span<float> planes, int width, const Value& value) {
    if (!box) return;
    const std::size_t plane = planes.size() / 3;
    for (std::size_t c = 0; c < 3; ++c) {
        for (int y = box->top; y < box->top + box->height; ++y) {
            const std::size_t start = c * plane + static_cast<std::size_t>(y * width + box->left);
            std::generate_n(planes.begin() + static_cast<std::ptrdiff_t>(start), box->width, [&] { return value(c); });
        }
    }
}

}  // namespace

Augmentation augmentation_named(std::string_view word) {
    if (word == "none") return Augmentation::none;
    if (word == "crop-flip") return Augmentation::crop_flip;
    if (word == "resized-crop-flip") return Augmentation::resized_crop_flip;
    if (word == "randaugment") return Augmentation::randaugment;
    if (word == "autoaugment") return Augmentation::autoaugment;
    throw InputError("augmentation: ", word,
                     " is not known, wanted none, crop-flip, resized-crop-flip, randaugment or autoaugment");
}

std::optional<Box> choose_erasing(Random& random, int width, int height, const Erasing& erasing) {
    constexpr double least_aspect = 0.3, most_aspect = 1 / 0.3;
    if (!happens(random, erasing.probability)) return std::nullopt;
    for (int attempt = 0; attempt < erasing.attempts; ++attempt) {
        const double area = between(random, 0.02, erasing.most_area) * width * height;
        const double aspect = erasing.log_aspect
                                  ? std::exp(between(random, std::log(least_aspect), std::log(most_aspect)))
                                  : between(random, least_aspect, most_aspect);
        const int h = static_cast<int>(std::nearbyint(std::sqrt(area * aspect)));
        const int w = static_cast<int>(std::nearbyint(std::sqrt(area / aspect)));
        if (w >= width || h >= height) continue;
        const int top = index_below(random, height - h + 1), left = index_below(random, width - w + 1);
        return Box{left, top, w, h};
    }
    return std::nullopt;
}

Augmenter::Augmenter(const Options& options)
    : options_(options),
      normalise_(options.statistics),
      style_(timm_randaugment_style(options.statistics)),
      image_(1, 1) {}

void Augmenter::take(const Picture& square) {
    if (image_.width() != square.width || image_.height() != square.height) {
        image_.prepare_spare(square.width, square.height);
        image_.take_spare();
    }
    std::ranges::copy(square.rgb, image_.bytes().begin());
}

void Augmenter::take_resized(const Picture& square, int side) {
    require(square.width == square.height, "image: ", square.width, " x ", square.height, " pixels, wanted a square");
    square.width == side ? take(square) : take(resized(square, side, side, ResizeFilter::bicubic, {0, 0, side, side}));
}

void Augmenter::train(const Picture& picture, int side, std::uint64_t epoch, std::uint64_t place,
                      std::span<float> out) {
    Random random = epoch_stream(options_.seed, "augment", epoch, place);
    const auto operations = [&] {
        if (options_.operations) timm_randaugment(image_, random, *options_.operations, style_);
    };
    if (options_.augmentation == Augmentation::resized_crop_flip)
        take(resized_crop(picture, choose_resized_crop(random, picture.width, picture.height, options_.crop), side));
    else
        take_resized(picture, side);
    switch (options_.augmentation) {
        case Augmentation::none:
            break;
        case Augmentation::crop_flip:
            random_crop(image_, random);
            random_flip(image_, random);
            operations();
            break;
        case Augmentation::resized_crop_flip:
            random_flip(image_, random);
            operations();
            break;
        case Augmentation::randaugment:
            randaugment(image_, random);
            random_crop(image_, random);
            random_flip(image_, random);
            break;
        case Augmentation::autoaugment:
            random_flip(image_, random);
            random_crop(image_, random);
            autoaugment(image_, random);
            break;
    }
    normalise_(image_, out);
    const auto box = [&](const Erasing& erasing) { return choose_erasing(random, side, side, erasing); };
    // The recipe fills with the means of the data although the values are already normalised.
    if (options_.augmentation == Augmentation::autoaugment)
        erase(box({}), out, side, [&](std::size_t c) { return normalise_.mean()[c]; });
    if (options_.noise_erasing > 0)
        erase(box(timm_erasing(options_.noise_erasing)), out, side,
              [&](std::size_t) { return static_cast<float>(random.normal()); });
}

void Augmenter::evaluate(const Picture& square, int side, std::span<float> out) {
    take_resized(square, side);
    normalise_(image_, out);
}

}  // namespace vkf
