// Batches for a vision model: their content does not depend on the threads that prepare them, nor on the order.
#include "models/train/image_feed.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "models/data/images/synthetic_images.h"
#include "models/images/augmentation/mix.h"
#include "models/images/resize.h"
#include "tests/images/encoded.h"
#include "tests/images/samples.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;

constexpr std::size_t image_values = 3 * 32 * 32, classes = 10;
constexpr ImageBatchOptions recipe = {.batch = 8,
                                      .passes = 2,
                                      .augmentation = Augmentation::autoaugment,
                                      .mixing = {.probability = 0.5},
                                      .label_smoothing = 0.1,
                                      .seed = 5};

const ImageSet& set() {
    static const ImageSet drawn = synthetic_images(3, 30);  // two passes are 7.5 batches
    return drawn;
}

ImageBatchOptions with_workers(std::size_t workers) {
    ImageBatchOptions options = recipe;
    options.workers = workers;
    return options;
}

// With smoothing 0.1, an evaluation's loss is the mean over its images of 0.9·(−log p of the label) + 0.1·(mean of all
// −log p).
TEST(HostImageBatches, EvaluationsTakeLabelsOneHotOrSmoothed) {
    for (const double smoothing : {0.0, 0.1}) {
        PlainBatches batches(set(), set().train, {.batch = 8, .label_smoothing = smoothing, .workers = 2});
        ASSERT_EQ(batches.count(), 4u);
        const ImageBatch& made = batches.at(3);  // images 24 to 29
        for (std::size_t row = 0; row < 8; ++row) {
            for (std::size_t j = 0; j < classes; ++j) {
                const bool there = row < 6;
                const bool own = there && static_cast<std::size_t>(set().train.label(24 + row)) == j;
                const double wanted = there ? (own ? 1 - smoothing : 0) + smoothing / classes : 0;
                EXPECT_FLOAT_EQ(made.targets[row * classes + j], static_cast<float>(wanted * 8 / 6)) << row << ' ' << j;
            }
        }
    }
}

TEST(HostImageBatches, AreWhatSamplerPolicyAndPlanSay) {
    ImageBatches batches(set(), set().train, recipe);
    ASSERT_EQ(batches.per_epoch(), 8);
    Sampler sampler({30, recipe.batch, recipe.passes, false, recipe.seed});
    Augmenter augmenter({recipe.augmentation, recipe.statistics, recipe.seed});
    Picture picture;
    std::array<int, 3> seen = {};
    for (std::uint64_t number = 0; number < 24; ++number) {
        const std::uint64_t epoch = number / 8;
        const std::size_t in_epoch = number % 8;
        const auto chosen = sampler.batch(epoch, in_epoch);
        const MixPlan plan = plan_mix(recipe.seed, epoch, in_epoch, chosen.size(), 32, 32, recipe.mixing);
        ++seen.at(static_cast<std::size_t>(plan.kind));
        std::vector<float> images(chosen.size() * image_values), mixed(images.size());
        std::vector<double> targets(recipe.batch * classes);
        for (std::size_t row = 0; row < chosen.size(); ++row) {
            set().train.read_square(chosen[row], picture);
            augmenter.train(picture, 32, epoch, sampler.first_place(in_epoch) + row,
                            std::span(images).subspan(row * image_values, image_values));
            const double whole = static_cast<double>(recipe.batch) / static_cast<double>(chosen.size());
            const auto weigh = [&](std::size_t image, double share) {
                for (std::size_t j = 0; j < classes; ++j) targets[row * classes + j] += share * whole * 0.1 / classes;
                targets[row * classes + static_cast<std::size_t>(set().train.label(image))] += share * whole * 0.9;
            };
            weigh(chosen[row], plan.lambda);
            weigh(chosen[plan.partner[row]], 1 - plan.lambda);
        }
        mix(plan, images, 32, 32, mixed);
        mixed.resize(recipe.batch * image_values);  // missing rows are zeros
        const ImageBatch& found = batches.at(number);
        ASSERT_EQ(found.images, mixed) << number;
        ASSERT_EQ(found.targets.size(), targets.size());
        for (std::size_t i = 0; i < targets.size(); ++i) ASSERT_NEAR(found.targets[i], targets[i], 0x1p-22) << number;
    }
    for (const int kind : seen) EXPECT_GT(kind, 0);
}

TEST(HostImageBatches, KnowNeitherWorkersNorTheOrderTheyAreAskedIn) {
    ImageBatches one(set(), set().train, with_workers(1)), three(set(), set().train, with_workers(3));
    std::vector<ImageBatch> wanted;
    for (std::uint64_t number = 0; number < 20; ++number) wanted.push_back(one.at(number));
    for (const std::uint64_t number : {0u, 1u, 2u, 2u, 9u, 10u, 3u, 19u, 0u, 4u, 5u, 6u, 7u, 8u, 16u}) {
        const ImageBatch& found = three.at(number);
        ASSERT_EQ(found.images, wanted[number].images) << number;
        ASSERT_EQ(found.targets, wanted[number].targets) << number;
    }
}

TEST(HostImageBatches, StayAsTheyAreWhileInUse) {
    ImageBatches batches(set(), set().train, with_workers(3));
    const ImageBatch& held = batches.at(2);
    const std::vector<float> copy = held.images;
    // By the time the second object's batch is ready, the batches that the first object began are ready too.
    ImageBatches(set(), set().train, with_workers(1)).at(9);
    EXPECT_EQ(held.images, copy);
}

/// A folder of pictures of several sizes, some of them larger than a batch's side, and one of that side.
class PictureFolder {
public:
    explicit PictureFolder(std::size_t pictures = 14) {
        for (std::size_t i = 0; i < pictures; ++i) {
            const int width = i == 3 ? 16 : 20 + static_cast<int>(i) * 7 % 30, height = i == 3 ? 16 : 50 - width / 2;
            test::Numbers numbers(i);
            test::Samples samples{width, height, 3, {}};
            for (int value = 0; value < 3 * width * height; ++value)
                samples.samples.push_back(static_cast<std::uint8_t>(numbers.below(256)));
            scratch_.file(text(i % 2 ? "a/" : "b/", 10 + i, ".png"), test::encode_png(samples));
        }
    }

    ImageSet open(bool whole, std::int64_t memory) const {
        return open_images(scratch_.path(), {.side = 16, .fit = {.shorter = 18}, .whole = whole, .memory = memory});
    }
    const test::Scratch& scratch() const { return scratch_; }

private:
    test::Scratch scratch_;
};

/// Memory is bounded by leaving pictures in their files. No batch tells the difference.
TEST(HostImageBatches, AreTheSameFromMemoryAndFromFiles) {
    const PictureFolder folder;
    const std::int64_t needed = 14 * 3 * 16 * 16;
    const ImageSet kept = folder.open(false, needed), left = folder.open(false, needed - 1);
    ASSERT_TRUE(kept.train.in_memory() && kept.test.in_memory());
    ASSERT_FALSE(left.train.in_memory() || left.test.in_memory());
    EXPECT_TRUE(left.decoded.empty());
    ImageBatchOptions options = with_workers(2);
    options.repeats = 2;
    ImageBatches from_memory(kept, kept.train, options), from_files(left, left.train, options);
    for (std::uint64_t number = 0; number < 6; ++number) {
        ASSERT_EQ(from_memory.at(number).images, from_files.at(number).images) << number;
        ASSERT_EQ(from_memory.at(number).targets, from_files.at(number).targets) << number;
    }
    PlainBatches evaluated(kept, kept.test, {.batch = 4}), decoded(left, left.test, {.batch = 4, .workers = 3});
    ASSERT_EQ(evaluated.count(), decoded.count());
    for (std::uint64_t number = 0; number < evaluated.count(); ++number)
        ASSERT_EQ(evaluated.at(number).images, decoded.at(number).images) << number;
}

/// Resized crops see the whole picture, in the order and with the draws of any number of workers, from any batch on.
TEST(HostImageBatches, WholePicturesAreCroppedAlikeByAnyNumberOfWorkers) {
    const PictureFolder folder;
    const ImageSet set = folder.open(true, 1 << 20);
    ASSERT_FALSE(set.train.in_memory());
    ASSERT_TRUE(set.test.in_memory());
    ImageBatchOptions options{.batch = 4,
                              .repeats = 3,
                              .augmentation = Augmentation::resized_crop_flip,
                              .operations = timm_randaugment_named("rand-m9-mstd0.5-inc1"),
                              .noise_erasing = 0.25,
                              .seed = 5};
    ImageBatches one(set, set.train, options);
    std::vector<ImageBatch> batches;
    for (std::uint64_t number = 0; number < 12; ++number) batches.push_back(one.at(number));

    Sampler sampler({set.train.size(), 4, 1, false, 5, 3});
    Augmenter augmenter(
        {.augmentation = options.augmentation, .seed = 5, .noise_erasing = 0.25, .operations = options.operations});
    std::vector<float> wanted(4 * 3 * 16 * 16);
    for (std::uint64_t number = 0; number < 12; ++number) {
        const std::uint64_t epoch = number / sampler.batches(), in_epoch = number % sampler.batches();
        const auto chosen = sampler.batch(epoch, in_epoch);
        std::ranges::fill(wanted, 0.0f);
        for (std::size_t row = 0; row < chosen.size(); ++row) {
            Picture picture;
            set.train.read_whole(chosen[row], picture);
            augmenter.train(picture, 16, epoch, sampler.first_place(in_epoch) + row,
                            std::span(wanted).subspan(row * 768, 768));
        }
        ASSERT_EQ(batches[number].images, wanted) << number;
    }

    options.workers = 3;
    ImageBatches three(set, set.train, options);
    for (const std::uint64_t number : {7u, 8u, 9u, 0u, 1u, 11u}) {
        ASSERT_EQ(three.at(number).images, batches[number].images) << number;
        ASSERT_EQ(three.at(number).targets, batches[number].targets) << number;
    }
}

TEST(HostImageBatches, ADamagedPictureIsNamedWhenItsBatchIsNeeded) {
    const PictureFolder folder;
    folder.scratch().file("a/11.png", "no picture");
    const ImageSet set = folder.open(false, 0);  // its pictures are not decoded here
    ImageBatchOptions options = with_workers(2);
    options.batch = 1;
    ImageBatches batches(set, set.train, options);
    std::size_t found = 0;
    for (std::uint64_t number = 0; number < 12; ++number) {
        const std::string fault = complaint([&] { batches.at(number); });
        if (fault.empty()) continue;
        expect_holds(fault, "a/11.png: is no PNG, JPEG or WebP image");
        ++found;
    }
    EXPECT_EQ(found, 1u);
}

/// Batches of the first epoch have images of 16 pixels, those of the second of 24, later ones of 32.
std::size_t growing_side(std::uint64_t number) {
    return std::min<std::size_t>(16 + 8 * (number / 8), 32);
}

/// Evaluations normalise as training without augmentation does.
TEST(HostImageBatches, HaveImagesOfTheSideThatTheirNumberSays) {
    ImageBatchOptions options = with_workers(3);
    options.augmentation = Augmentation::none;
    options.mixing.probability = 0;
    ImageBatches batches(set(), set().train, options);
    batches.resize(growing_side);
    Sampler sampler({30, options.batch, options.passes, false, options.seed});
    Augmenter evaluated({.statistics = options.statistics});
    for (const std::uint64_t number : {0u, 6u, 7u, 8u, 9u, 15u, 16u, 3u}) {
        const auto side = static_cast<int>(growing_side(number));
        std::vector<float> wanted(options.batch * 3 * growing_side(number) * growing_side(number));
        const auto chosen = sampler.batch(number / 8, number % 8);
        for (std::size_t row = 0; row < chosen.size(); ++row) {
            Picture picture;
            set().train.read_square(chosen[row], picture);
            picture = resized(picture, side, side, ResizeFilter::bicubic, {0, 0, side, side});
            const std::size_t elements = wanted.size() / options.batch;
            evaluated.evaluate(picture, side, std::span(wanted).subspan(row * elements, elements));
        }
        ASSERT_EQ(batches.at(number).images, wanted) << number;
    }
}

TEST(HostImageBatches, OfAnySideAreAugmentedTheSameByAllWorkers) {
    ImageBatches one(set(), set().train, with_workers(1)), three(set(), set().train, with_workers(3));
    one.resize(growing_side);
    three.resize(growing_side);
    for (std::uint64_t number = 0; number < 20; ++number)
        ASSERT_EQ(one.at(number).images, three.at(number).images) << number;
    ImageBatches plain(set(), set().train, with_workers(1));
    EXPECT_EQ(one.at(17).images, plain.at(17).images);  // 32 pixels, as the data has them
}

TEST(HostImageBatches, RefuseWhatCannotBePrepared) {
    expect_holds(complaint([] { ImageBatches(set(), set().train, with_workers(0)); }), "0 workers cannot prepare");
    ImageSet grey = synthetic_images(3, 10);
    grey.channels = 1;
    expect_holds(complaint([&] { ImageBatches(grey, grey.train, recipe); }), "1 channels, wanted 3");
}

}  // namespace
}  // namespace vkf
