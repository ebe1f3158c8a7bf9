// Batches for a vision model: their content does not depend on the threads that prepare them, nor on the order.
#include "models/train/image_feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "models/data/images/synthetic_images.h"
#include "models/images/augmentation/mix.h"
#include "models/images/resize.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;

constexpr std::size_t image_values = 3 * 32 * 32, classes = 10;
constexpr ImageBatchOptions recipe = {.batch = 8,
                                      .passes = 2,
                                      .augmentation = Augmentation::autoaugment,
                                      .mix_probability = 0.5,
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
        const ImageBatch made = plain_batch(set(), set().train, sl_cifar10, 8, 3, smoothing);  // images 24 to 29
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
    Augmenter augmenter({recipe.augmentation, recipe.statistics, recipe.seed, 32, 32});
    std::array<int, 3> seen = {};
    for (std::uint64_t number = 0; number < 24; ++number) {
        const std::uint64_t epoch = number / 8;
        const std::size_t in_epoch = number % 8;
        const auto chosen = sampler.batch(epoch, in_epoch);
        const MixPlan plan = plan_mix(recipe.seed, epoch, in_epoch, chosen.size(), 32, 32, recipe.mix_probability);
        ++seen.at(static_cast<std::size_t>(plan.kind));
        std::vector<float> images(chosen.size() * image_values), mixed(images.size());
        std::vector<double> targets(recipe.batch * classes);
        for (std::size_t row = 0; row < chosen.size(); ++row) {
            augmenter.train(set().train.pixels(chosen[row]), epoch, sampler.first_place(in_epoch) + row,
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

/// Image i, brought to a side by PIL's filter and normalised.
std::vector<float> normalised(std::size_t i, int side) {
    const std::span<const std::uint8_t> planes = set().train.pixels(i);
    Picture picture{32, 32, {}};
    for (std::size_t pixel = 0; pixel < 32 * 32; ++pixel)
        for (std::size_t c = 0; c < 3; ++c) picture.rgb.push_back(planes[c * 32 * 32 + pixel]);
    picture = resized(picture, side, side, ResizeFilter::bicubic, {0, 0, side, side});
    std::vector<float> made;
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t at = c; at < picture.rgb.size(); at += 3) {
            const double value = static_cast<double>(picture.rgb[at]) / 255;
            made.push_back(static_cast<float>((value - sl_cifar10.mean[c]) / sl_cifar10.deviation[c]));
        }
    return made;
}

/// Batches of the first epoch have images of 16 pixels, those of the second of 24, later ones of 32.
std::int64_t growing_side(std::uint64_t number) {
    return std::min<std::int64_t>(16 + 8 * static_cast<std::int64_t>(number / 8), 32);
}

TEST(HostImageBatches, HaveImagesOfTheSideThatTheirNumberSays) {
    ImageBatchOptions options = with_workers(3);
    options.augmentation = Augmentation::none;
    options.mix_probability = 0;
    ImageBatches batches(set(), set().train, options);
    batches.resize(growing_side);
    Sampler sampler({30, options.batch, options.passes, false, options.seed});
    for (const std::uint64_t number : {0u, 6u, 7u, 8u, 9u, 15u, 16u, 3u}) {
        const auto side = static_cast<int>(growing_side(number));
        const ImageBatch& found = batches.at(number);
        const auto elements = static_cast<std::size_t>(3 * side * side);
        ASSERT_EQ(found.images.size(), options.batch * elements) << number;
        const auto chosen = sampler.batch(number / 8, number % 8);
        for (std::size_t row = 0; row < chosen.size(); ++row) {
            const std::vector<float> wanted = normalised(chosen[row], side);
            for (std::size_t i = 0; i < elements; ++i)  // one rounding of the mean and one of the quotient
                ASSERT_NEAR(found.images[row * elements + i], wanted[i], 1e-5) << number << ' ' << row << ' ' << i;
        }
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
