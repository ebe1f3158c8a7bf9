#include "models/train/image_feed.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "models/images/augmentation/mix.h"
#include "models/images/resize.h"

namespace vkf {

namespace {

std::size_t image_elements(const ImageSet& set, std::size_t side) {
    return set.channels * side * side;
}

/// Planes of an image of side `side`, from those of one of another side.
std::vector<std::uint8_t> resized_planes(std::span<const std::uint8_t> planes, int old_side, int side) {
    Picture picture{old_side, old_side, std::vector<std::uint8_t>(planes.size())};
    const std::size_t old_plane = planes.size() / CHANNELS;
    for (std::size_t i = 0; i < planes.size(); ++i) picture.rgb[i] = planes[i % CHANNELS * old_plane + i / CHANNELS];
    picture = resized(picture, side, side, ResizeFilter::bicubic, {0, 0, side, side});
    std::vector<std::uint8_t> made(picture.rgb.size());
    const std::size_t plane = made.size() / CHANNELS;
    for (std::size_t i = 0; i < made.size(); ++i) made[i % CHANNELS * plane + i / CHANNELS] = picture.rgb[i];
    return made;
}

Augmenter::Options augmenter_options(const ImageBatchOptions& options, int side) {
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
    const int side = static_cast<int>(set.side);
    const Augmenter augmenter(augmenter_options(options, side));
    for (std::size_t i = 0; i <= options.workers; ++i)
        slots_.emplace_back(augmenter, side).batch.targets.resize(options.batch * set.classes());
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
    const int held = static_cast<int>(set_->side), side = side_ ? static_cast<int>(side_(slot.number)) : held;
    if (std::exchange(slot.side, side) != side) slot.augmenter = Augmenter(augmenter_options(options_, side));
    const std::size_t elements = image_elements(*set_, static_cast<std::size_t>(side)), used = rows * elements;
    slot.batch.images.resize(options_.batch * elements);
    const MixPlan plan = plan_mix(options_.seed, epoch, in_epoch, rows, side, side, options_.mix_probability);
    const bool mixed = plan.kind != MixPlan::Kind::none;
    if (mixed) slot.unmixed.resize(slot.batch.images.size());

    const std::span<float> images = std::span(mixed ? slot.unmixed : slot.batch.images).first(used);
    std::vector<std::int32_t> labels(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t image = slot.chosen[row];
        labels[row] = images_->label(image);
        std::span<const std::uint8_t> planes = images_->pixels(image);
        std::vector<std::uint8_t> other;
        if (side != held) planes = other = resized_planes(planes, held, side);
        slot.augmenter.train(planes, epoch, sampler_.first_place(in_epoch) + row,
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
    const std::size_t elements = image_elements(set, set.side), first = number * batch;
    const std::size_t rows = std::min(batch, images.size() - first);
    ImageBatch made{std::vector<float>(batch * elements), std::vector<float>(batch * set.classes())};
    Augmenter augmenter(augmenter_options({.statistics = statistics}, static_cast<int>(set.side)));
    for (std::size_t row = 0; row < rows; ++row)
        augmenter.evaluate(images.pixels(first + row), std::span(made.images).subspan(row * elements, elements));
    weigh(made, images.labels().subspan(first, rows), set.classes(), 1, label_smoothing);
    return made;
}

}  // namespace vkf
