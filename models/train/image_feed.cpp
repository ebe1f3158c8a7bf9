#include "models/train/image_feed.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace vkf {

namespace {

std::size_t elements_of(const ImageSet& set, std::size_t side) {
    return set.channels * side * side;
}

std::size_t checked_workers(std::size_t workers) {
    require(workers > 0, "0 workers cannot prepare images, wanted at least 1");
    return workers;
}

Augmenter augmenter_for(const ImageSet& set, const ImageBatchOptions& options) {
    require(set.channels == 3, "images have ", set.channels, " channels, wanted 3");
    return Augmenter({.augmentation = options.augmentation,
                      .statistics = options.statistics,
                      .seed = options.seed,
                      .noise_erasing = options.noise_erasing,
                      .crop = options.crop,
                      .operations = options.operations});
}

/// Adds `share` of each row's label to its weights, with `smoothing` of it spread evenly over the classes. The loss is
/// a mean over all rows of the batch, so weights compensate for missing rows.
void weigh(ImageBatch& batch, std::span<const std::int32_t> labels, std::size_t classes, double share,
           double smoothing) {
    const std::size_t rows = batch.targets.size() / classes;
    const double whole = share * static_cast<double>(rows) / static_cast<double>(labels.size());
    const double even = whole * smoothing / static_cast<double>(classes);
    for (std::size_t row = 0; row < labels.size(); ++row)
        for (std::size_t j = 0; j < classes; ++j) {
            const bool own = j == static_cast<std::size_t>(labels[row]);
            batch.targets[row * classes + j] += static_cast<float>(even + (own ? whole * (1 - smoothing) : 0.0));
        }
}

}  // namespace

ImageBatches::ImageBatches(const ImageSet& set, const Images& images, const ImageBatchOptions& options)
    : set_(&set),
      images_(&images),
      options_(options),
      sampler_({images.size(), options.batch, options.passes, options.drop_last, options.seed, options.repeats}),
      ring_(
          checked_workers(options.workers), Draft{augmenter_for(set, options)},
          std::numeric_limits<std::uint64_t>::max(),
          [this](Draft& draft, std::uint64_t number) { choose(draft, number); },
          [this](Draft& draft, std::uint64_t number) { make(draft, number); }) {}

Feed ImageBatches::feed() {
    return [this](Program& program, std::uint64_t number) {
        const ImageBatch& batch = at(number);
        program.write("images", batch.images);
        program.write("targets", batch.targets);
    };
}

std::size_t ImageBatches::side(std::uint64_t number) const {
    return side_ ? side_(number) : set_->side;
}

void ImageBatches::choose(Draft& draft, std::uint64_t number) {
    const std::span<const std::size_t> chosen =
        sampler_.batch(number / sampler_.batches(), number % sampler_.batches());
    draft.chosen.assign(chosen.begin(), chosen.end());
}

void ImageBatches::make(Draft& draft, std::uint64_t number) const {
    const std::uint64_t epoch = number / sampler_.batches();
    const std::size_t in_epoch = number % sampler_.batches(), rows = draft.chosen.size();
    const std::size_t elements = elements_of(*set_, side(number)), used = rows * elements;
    const int pixels = static_cast<int>(side(number));
    const bool whole = options_.augmentation == Augmentation::resized_crop_flip;
    const MixPlan plan = plan_mix(options_.seed, epoch, in_epoch, rows, pixels, pixels, options_.mixing);
    const bool mixed = plan.kind != MixPlan::Kind::none;
    draft.batch.images.resize(options_.batch * elements);
    if (mixed) draft.unmixed.resize(draft.batch.images.size());

    const std::span<float> images = std::span(mixed ? draft.unmixed : draft.batch.images).first(used);
    std::vector<std::int32_t> labels(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t image = draft.chosen[row];
        // An image that follows itself is decoded once.
        if (row == 0 || image != draft.chosen[row - 1])
            whole ? images_->read_whole(image, draft.picture) : images_->read_square(image, draft.picture);
        labels[row] = images_->label(image);
        draft.augmenter.train(draft.picture, pixels, epoch, sampler_.first_place(in_epoch) + row,
                              images.subspan(row * elements, elements));
    }
    if (mixed) mix(plan, images, pixels, pixels, std::span(draft.batch.images).first(used));
    std::fill(draft.batch.images.begin() + static_cast<std::ptrdiff_t>(used), draft.batch.images.end(), 0.0f);

    draft.batch.targets.assign(options_.batch * set_->classes(), 0.0f);
    const auto add = [&](std::span<const std::int32_t> added, double share) {
        weigh(draft.batch, added, set_->classes(), share, options_.label_smoothing);
    };
    add(labels, plan.lambda);
    if (mixed) add(partner_labels(plan, labels), 1 - plan.lambda);
}

PlainBatches::PlainBatches(const ImageSet& set, const Images& images, const PlainBatchOptions& options)
    : set_(&set),
      images_(&images),
      options_(options),
      ring_(
          checked_workers(options.workers), Draft{augmenter_for(set, {.statistics = options.statistics})}, count(),
          [](Draft&, std::uint64_t) {}, [this](Draft& draft, std::uint64_t number) { make(draft, number); }) {}

void PlainBatches::make(Draft& draft, std::uint64_t number) const {
    const std::size_t elements = elements_of(*set_, set_->side), first = number * options_.batch;
    const std::size_t rows = std::min(options_.batch, images_->size() - first);
    draft.batch.images.assign(options_.batch * elements, 0.0f);
    draft.batch.targets.assign(options_.batch * set_->classes(), 0.0f);
    for (std::size_t row = 0; row < rows; ++row) {
        images_->read_square(first + row, draft.picture);
        draft.augmenter.evaluate(draft.picture, static_cast<int>(set_->side),
                                 std::span(draft.batch.images).subspan(row * elements, elements));
    }
    weigh(draft.batch, images_->labels().subspan(first, rows), set_->classes(), 1, options_.label_smoothing);
}

}  // namespace vkf
