// Tests whole augmentation recipes, from pictures to planes of floats.
#include "models/images/augmentation/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>
#include <vector>

#include "models/images/augmentation/autoaugment.h"
#include "models/images/augmentation/operations.h"
#include "models/images/augmentation/randaugment.h"
#include "models/images/drawing/draw.h"
#include "tests/images/chance.h"
#include "tests/images/samples.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using test::expect_share;

constexpr std::size_t size = 3 * 32 * 32;
using Floats = std::vector<float>;

Picture picture_of(const Image& image) {
    return {image.width(), image.height(), {image.bytes().begin(), image.bytes().end()}};
}

Augmenter::Options options_for(Augmentation augmentation, const Statistics& statistics = sl_cifar10) {
    return {.augmentation = augmentation, .statistics = statistics, .seed = 42};
}

/// Statistics with which normalising a byte gives its value, up to rounding.
constexpr Statistics plain = {{0, 0, 0}, {1 / 255.0, 1 / 255.0, 1 / 255.0}};

TEST(HostAugment, CropAndFlipMovePixelsByAllOffsetsAlike) {
    // Red is the column, green the row, and blue marks pixels that are not padding.
    Image places(32, 32);
    for (int y = 0; y < 32; ++y) {
        for (int x = 0; x < 32; ++x) {
            places.at(x, y) = {x, y, 200};
        }
    }
    const Picture picture = picture_of(places);
    Augmenter augmenter(options_for(Augmentation::crop_flip, plain));
    Floats out(size);
    const auto at = [&](std::size_t c, int x, int y) {
        return static_cast<int>(std::lround(out[c * 1024 + static_cast<std::size_t>(y * 32 + x)]));
    };
    constexpr int n = 20'000;
    std::map<std::pair<int, int>, int> offsets;
    int flips = 0;
    for (int place = 0; place < n; ++place) {
        augmenter.train(picture, 32, 3, static_cast<std::uint64_t>(place), out);
        ASSERT_EQ(at(2, 16, 16), 200);  // the middle always comes from the image
        const bool flipped = at(0, 15, 16) > at(0, 16, 16);
        const int left = at(0, flipped ? 15 : 16, 16) - 16, top = at(1, 16, 16) - 16;
        ++offsets[{left, top}];
        flips += flipped;
        for (int y = 0; y < 32; ++y) {
            for (int x = 0; x < 32; ++x) {
                const int from_x = (flipped ? 31 - x : x) + left, from_y = y + top;
                const bool inside = from_x >= 0 && from_y >= 0 && from_x < 32 && from_y < 32;
                ASSERT_EQ(at(2, x, y), inside ? 200 : 0);
                ASSERT_EQ(at(0, x, y), inside ? from_x : 0);
                ASSERT_EQ(at(1, x, y), inside ? from_y : 0);
            }
        }
    }
    expect_share(flips, n, 0.5, "flips");
    for (int top = -4; top <= 4; ++top) {
        for (int left = -4; left <= 4; ++left) expect_share(offsets[{left, top}], n, 1 / 81.0, "offset");
    }
}

/// Applies a recipe step by step, written independently of the library.
Floats by_hand(Augmentation augmentation, const Image& original, std::uint64_t epoch, std::uint64_t place) {
    Image image = original;
    Random random = epoch_stream(42, "augment", epoch, place);
    const auto random_flip = [&] {
        if (random.uniform() < 0.5f) flip(image);
    };
    const auto random_crop = [&] {
        const int left = static_cast<int>(random.below(9)), top = static_cast<int>(random.below(9));
        crop(image, left - 4, top - 4, 32, 32);
    };
    Floats out(size);
    const Normaliser normalise(sl_cifar10);
    if (augmentation == Augmentation::randaugment) {
        for (int i = 0; i < 2; ++i) apply(image, choose_randaugment(random, 14, 32, 32), randaugment_style);
        random_crop();
        random_flip();
        normalise(image, out);
    } else {
        random_flip();
        random_crop();
        for (const auto& op : choose_autoaugment(random, 32, 32).ops) {
            if (op) apply(image, *op, autoaugment_style);
        }
        normalise(image, out);
        const auto box = choose_erasing(random, 32, 32);
        for (int i = 0; box && i < static_cast<int>(size); ++i) {
            const int x = i % 32 - box->left, y = i / 32 % 32 - box->top;
            const bool inside = x >= 0 && y >= 0 && x < box->width && y < box->height;
            if (inside) out[static_cast<std::size_t>(i)] = normalise.mean()[static_cast<std::size_t>(i / 1024)];
        }
    }
    return out;
}

TEST(HostAugment, TheRecipesAreTheirStepsInOrder) {
    for (const Augmentation augmentation : {Augmentation::randaugment, Augmentation::autoaugment}) {
        Augmenter augmenter(options_for(augmentation));
        Floats out(size);
        for (int number = 0; number < test::sample_count; ++number) {
            const Image image = test::sample(number);
            if (image.width() != 32 || image.height() != 32) continue;
            const auto place = static_cast<std::uint64_t>(number);
            augmenter.train(picture_of(image), 32, 9, place, out);
            ASSERT_EQ(out, by_hand(augmentation, image, 9, place)) << number;
        }
    }
}

/// DeiT's recipe for ImageNet, step by step: a resized crop, a flip, two operations, normalisation, erasing by noise.
TEST(HostAugment, ResizedCropsComeBeforeFlipsAndOperations) {
    const TimmRandAugment operations = timm_randaugment_named("rand-m9-mstd0.5-inc1");
    for (const int side : {24, 40}) {
        const auto values = static_cast<std::size_t>(3 * side * side);
        Augmenter augmenter({.augmentation = Augmentation::resized_crop_flip,
                             .seed = 42,
                             .noise_erasing = 0.5,
                             .crop = {.least_area = 0.3},
                             .operations = operations});
        const Normaliser normalise(sl_cifar10);
        Floats out(values), wanted(values);
        for (int number = 0; number < test::sample_count; ++number) {
            const Picture picture = picture_of(test::sample(number));  // of any size
            const auto place = static_cast<std::uint64_t>(number);
            augmenter.train(picture, side, 9, place, out);
            Random random = epoch_stream(42, "augment", 9, place);
            const Box box = choose_resized_crop(random, picture.width, picture.height, {.least_area = 0.3});
            Image image(side, side);
            std::ranges::copy(resized_crop(picture, box, side).rgb, image.bytes().begin());
            if (random.uniform() < 0.5f) flip(image);
            for (int i = 0; i < 2; ++i)
                if (const auto op = choose_timm_randaugment(random, operations, side, side))
                    apply(image, *op, timm_randaugment_style(sl_cifar10));
            normalise(image, wanted);
            const auto erased = choose_erasing(random, side, side, timm_erasing(0.5));
            for (int i = 0; erased && i < static_cast<int>(values); ++i) {
                const int x = i % side - erased->left, y = i / side % side - erased->top;
                if (x >= 0 && y >= 0 && x < erased->width && y < erased->height)
                    wanted[static_cast<std::size_t>(i)] = static_cast<float>(random.normal());
            }
            ASSERT_EQ(out, wanted) << number;
        }
    }
}

/// The side is a batch's, not the data's: a square of another side is resized first.
TEST(HostAugment, SquaresOfAnotherSideAreResized) {
    const Picture picture = picture_of(test::sample(8));
    const Picture smaller = resized(picture, 20, 20, ResizeFilter::bicubic, {0, 0, 20, 20});
    const TimmRandAugment operations = timm_randaugment_named("rand-m9-n1");
    for (const Augmentation augmentation : {Augmentation::none, Augmentation::crop_flip, Augmentation::autoaugment}) {
        Augmenter::Options options = options_for(augmentation);
        options.operations = operations;
        Augmenter augmenter(options);
        Floats out(3 * 20 * 20), wanted(out.size());
        for (std::uint64_t place = 0; place < 20; ++place) {
            augmenter.train(picture, 20, 1, place, out);
            augmenter.train(smaller, 20, 1, place, wanted);
            ASSERT_EQ(out, wanted) << place;
        }
        augmenter.evaluate(picture, 20, out);
        augmenter.evaluate(smaller, 20, wanted);
        EXPECT_EQ(out, wanted);
    }
}

TEST(HostAugment, OperationsFollowCropAndFlip) {
    const Picture picture = picture_of(test::sample(8));
    const TimmRandAugment operations = timm_randaugment_named("rand-m9-n3");
    Augmenter::Options options = options_for(Augmentation::crop_flip);
    options.operations = operations;
    Augmenter augmenter(options);
    Floats out(size), wanted(size);
    for (std::uint64_t place = 0; place < 50; ++place) {
        augmenter.train(picture, 32, 1, place, out);
        Image image = test::sample(8);
        Random random = epoch_stream(42, "augment", 1, place);
        const int left = static_cast<int>(random.below(9)), top = static_cast<int>(random.below(9));
        crop(image, left - 4, top - 4, 32, 32);
        if (random.uniform() < 0.5f) flip(image);
        timm_randaugment(image, random, operations, timm_randaugment_style(sl_cifar10));
        Normaliser{sl_cifar10}(image, wanted);
        ASSERT_EQ(out, wanted) << place;
    }
}

TEST(HostAugment, AQuarterOfTheImagesHasARectangleOfTheDatasMeans) {
    const Picture picture = picture_of(test::sample(8));
    Augmenter augmenter(options_for(Augmentation::autoaugment));
    Floats out(size);
    constexpr int n = 4000;
    int erased = 0;
    for (std::uint64_t place = 0; place < n; ++place) {
        augmenter.train(picture, 32, 0, place, out);
        int left = 32, right = -1, top = 32, bottom = -1, pixels = 0;
        for (int i = 0; i < 1024; ++i) {
            const auto p = static_cast<std::size_t>(i);
            // The values of erased pixels; no byte normalises to exactly these.
            if (out[p] != 0.4914f || out[1024 + p] != 0.4822f || out[2048 + p] != 0.4465f) continue;
            ++pixels;
            left = std::min(left, i % 32);
            right = std::max(right, i % 32);
            top = std::min(top, i / 32);
            bottom = std::max(bottom, i / 32);
        }
        if (pixels == 0) continue;
        ++erased;
        ASSERT_EQ(pixels, (right - left + 1) * (bottom - top + 1));
    }
    expect_share(erased, n, 0.25, "erased");
}

TEST(HostAugment, NoiseReplacesARectangleAfterAllElse) {
    const Picture picture = picture_of(test::sample(8));
    for (const Augmentation augmentation : {Augmentation::none, Augmentation::crop_flip, Augmentation::autoaugment}) {
        Augmenter::Options options = options_for(augmentation);
        Augmenter plain_augmenter(options);
        options.noise_erasing = 0.5;
        Augmenter augmenter(options);
        Floats before(size), out(size);
        constexpr int n = 2000;
        int erased = 0;
        double count = 0, sum = 0, squares = 0, fourths = 0;
        for (std::uint64_t place = 0; place < n; ++place) {
            plain_augmenter.train(picture, 32, 3, place, before);
            augmenter.train(picture, 32, 3, place, out);
            int left = 32, right = -1, top = 32, bottom = -1, values = 0;
            for (int i = 0; i < static_cast<int>(size); ++i) {
                const auto at = static_cast<std::size_t>(i);
                if (out[at] == before[at]) continue;
                const double value = static_cast<double>(out[at]);
                ++values, ++count, sum += value, squares += value * value, fourths += std::pow(value, 4);
                left = std::min(left, i % 32), right = std::max(right, i % 32);
                top = std::min(top, i / 32 % 32), bottom = std::max(bottom, i / 32 % 32);
            }
            if (values == 0) continue;
            ++erased;
            // Noise may happen to equal a value that it replaces.
            ASSERT_LE(3 * (right - left + 1) * (bottom - top + 1) - values, 1) << place;
        }
        expect_share(erased, n, 0.5, "erased");
        // Moments of N(0, 1) and their variances: 0 and 1, 1 and 2, 3 and 96.
        EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(1 / count));
        EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
        EXPECT_NEAR(fourths / count, 3, 5 * std::sqrt(96 / count));
    }
}

TEST(HostAugment, AnImagesRandomnessKnowsNeitherOrderNorThreads) {
    constexpr std::size_t n = 64;
    std::vector<Picture> images;
    for (int number = 0; images.size() < n; ++number) {
        if (number % 5 != 4) images.push_back(picture_of(test::sample(number)));
    }
    for (const Augmentation augmentation :
         {Augmentation::crop_flip, Augmentation::randaugment, Augmentation::autoaugment}) {
        const auto work = [&](std::vector<Floats>& out, std::size_t first, std::size_t stride) {
            Augmenter augmenter(options_for(augmentation));
            for (std::size_t i = first; i < n; i += stride) augmenter.train(images[i], 32, 5, i, out[i]);
        };
        std::vector<Floats> once(n, Floats(size)), threaded = once, backwards = once, later = once;
        work(once, 0, 1);
        std::thread odd(work, std::ref(threaded), 1, 2);
        work(threaded, 0, 2);
        odd.join();
        Augmenter augmenter(options_for(augmentation)), other_seed({.augmentation = augmentation, .seed = 43});
        int same_epoch = 0, same_seed = 0;
        for (std::size_t i = n; i-- > 0;) {
            augmenter.train(images[i], 32, 5, i, backwards[i]);
            augmenter.train(images[i], 32, 6, i, later[i]);
            same_epoch += later[i] == once[i];
            other_seed.train(images[i], 32, 5, i, later[i]);
            same_seed += later[i] == once[i];
        }
        EXPECT_EQ(once, threaded);
        EXPECT_EQ(once, backwards);
        EXPECT_LT(same_epoch, static_cast<int>(n) / 2);  // images of one colour may come out alike
        EXPECT_LT(same_seed, static_cast<int>(n) / 2);
    }
}

TEST(HostAugment, EvaluationOnlyNormalises) {
    const Picture picture = picture_of(test::sample(0));
    Floats evaluated(size), trained(size);
    Augmenter augmenter(options_for(Augmentation::autoaugment, kk_cifar100));
    augmenter.evaluate(picture, 32, evaluated);
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t c = i / 1024;
        const auto mean = static_cast<float>(kk_cifar100.mean[c]),
                   deviation = static_cast<float>(kk_cifar100.deviation[c]);
        const float value = static_cast<float>(picture.rgb[i % 1024 * 3 + c]);
        ASSERT_EQ(evaluated[i], (value / 255.0f - mean) / deviation);
    }
    Augmenter none(options_for(Augmentation::none, kk_cifar100));
    none.train(picture, 32, 1, 2, trained);
    EXPECT_EQ(trained, evaluated);
}

TEST(HostAugment, NormalisingCanBeUndone) {
    const Image image = test::sample(0);
    Floats planes(size);
    Normaliser{kk_cifar100}(image, planes);
    Image back(32, 32);
    denormalise(planes, kk_cifar100, back);
    EXPECT_TRUE(std::ranges::equal(back.bytes(), image.bytes()));
    planes[0] = 100, planes[1] = -100;
    denormalise(planes, kk_cifar100, back);
    EXPECT_EQ(back.at(0, 0)[0], 255);
    EXPECT_EQ(back.at(1, 0)[0], 0);
    expect_holds(complaint([&] { denormalise({planes.data(), 9}, kk_cifar100, back); }), "9 values, wanted 3072");
}

TEST(HostAugment, NamesAndSizesAreChecked) {
    EXPECT_EQ(augmentation_named("none"), Augmentation::none);
    EXPECT_EQ(augmentation_named("crop-flip"), Augmentation::crop_flip);
    EXPECT_EQ(augmentation_named("resized-crop-flip"), Augmentation::resized_crop_flip);
    EXPECT_EQ(augmentation_named("randaugment"), Augmentation::randaugment);
    EXPECT_EQ(augmentation_named("autoaugment"), Augmentation::autoaugment);
    expect_holds(complaint([] { augmentation_named("mixup"); }), "mixup is not known, wanted none, crop-flip,");
    Augmenter augmenter(options_for(Augmentation::crop_flip));
    const Picture square{32, 32, std::vector<std::uint8_t>(size)}, oblong{32, 16, std::vector<std::uint8_t>(size / 2)};
    Floats out(size), narrow(7);
    expect_holds(complaint([&] { augmenter.train(oblong, 32, 0, 0, out); }), "32 x 16 pixels, wanted a square");
    expect_holds(complaint([&] { augmenter.evaluate(square, 32, narrow); }), "room for 7 values, wanted 3072");
    expect_holds(complaint([] { Normaliser({{0, 0, 0}, {1, 0, 1}}); }), "deviation 0 of channel 1");
}

}  // namespace
}  // namespace vkf
