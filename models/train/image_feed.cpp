#include "models/train/image_feed.h"

#include <algorithm>

#include "base/error.h"
#include "models/images/augmentation/mix.h"

namespace vkf {

namespace {

std::size_t image_elements(const ImageSet& set) {
    return set.channels * set.side * set.side;
}

Augmenter::Options augmenter_options(const ImageSet& set, const ImageBatchOptions& options) {
    const int side = static_cast<int>(set.side);
    return {options.augmentation, options.statistics, options.seed, side, side, options.noise_erasing};
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
      sampler_({images.size(), options.batch, options.passes, options.drop_last, options.seed, options.repeats}) {
    require(options.workers > 0, "0 workers cannot prepare images, wanted at least 1");
    require(set.channels == 3, "images have ", set.channels, " channels, wanted 3");
    const Augmenter augmenter(augmenter_options(set, options));
    for (std::size_t i = 0; i <= options.workers; ++i) {
        ImageBatch& batch = slots_.emplace_back(augmenter).batch;
        batch.images.resize(options.batch * image_elements(set));
        batch.targets.resize(options.batch * set.classes());
    }
}

const ImageBatch& ImageBatches::at(std::uint64_t number) {
    for (std::size_t ahead = 0; ahead + 1 < slots_.size(); ++ahead) prepare(number + ahead);
    slot_of(number).made.get();
    prepare(number + slots_.size() - 1);  // in the slot of the batch before, by the free worker
    return slot_of(number).batch;
}

Feed ImageBatches::feed() {
    return [this](Program& program, std::uint64_t number) {
        const ImageBatch& batch = at(number);
        program.write("images", batch.images);
        program.write("targets", batch.targets);
    };
}

/// Starts to prepare a batch, unless its slot has started already.
void ImageBatches::prepare(std::uint64_t number) {
    Slot& slot = slot_of(number);
    if (slot.made.valid() && slot.number == number) return;
    if (slot.made.valid()) slot.made.wait();
    const std::span<const std::size_t> chosen =
        sampler_.batch(number / sampler_.batches(), number % sampler_.batches());
    slot.chosen.assign(chosen.begin(), chosen.end());
    slot.number = number;
    slot.made = std::async(std::launch::async, [this, &slot] { make(slot); });
}

void ImageBatches::make(Slot& slot) const {
    const std::uint64_t epoch = slot.number / sampler_.batches();
    const std::size_t in_epoch = slot.number % sampler_.batches(), rows = slot.chosen.size();
    const std::size_t elements = image_elements(*set_), used = rows * elements;
    const int side = static_cast<int>(set_->side);
    const MixPlan plan = plan_mix(options_.seed, epoch, in_epoch, rows, side, side, options_.mix_probability);
    const bool mixed = plan.kind != MixPlan::Kind::none;
    if (mixed) slot.unmixed.resize(slot.batch.images.size());

    const std::span<float> images = std::span(mixed ? slot.unmixed : slot.batch.images).first(used);
    std::vector<std::int32_t> labels(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t image = slot.chosen[row];
        labels[row] = images_->label(image);
        slot.augmenter.train(images_->pixels(image), epoch, sampler_.first_place(in_epoch) + row,
                             images.subspan(row * elements, elements));
    }
    if (mixed) mix(plan, images, side, side, std::span(slot.batch.images).first(used));
    std::fill(slot.batch.images.begin() + static_cast<std::ptrdiff_t>(used), slot.batch.images.end(), 0.0f);

    std::ranges::fill(slot.batch.targets, 0.0f);
    const auto add = [&](std::span<const std::int32_t> added, double share) {
        weigh(slot.batch, added, set_->classes(), share, options_.label_smoothing);
    };
    add(labels, plan.lambda);
    if (mixed) add(partner_labels(plan, labels), 1 - plan.lambda);
}

ImageBatch plain_batch(const ImageSet& set, const Images& images, const Statistics& statistics, std::size_t batch,
                       std::size_t number, double label_smoothing) {
    const std::size_t elements = image_elements(set), first = number * batch;
    const std::size_t rows = std::min(batch, images.size() - first);
    ImageBatch made{std::vector<float>(batch * elements), std::vector<float>(batch * set.classes())};
    Augmenter augmenter(augmenter_options(set, {.statistics = statistics}));
    for (std::size_t row = 0; row < rows; ++row)
        augmenter.evaluate(images.pixels(first + row), std::span(made.images).subspan(row * elements, elements));
    weigh(made, images.labels().subspan(first, rows), set.classes(), 1, label_smoothing);
    return made;
}

}  // namespace vkf
