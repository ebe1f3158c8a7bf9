#include "models/train/image_feed.h"

#include <algorithm>

#include "base/error.h"
#include "models/images/mix.h"

namespace vkf {

namespace {

std::size_t image_elements(const ImageSet& set) {
    return set.channels * set.side * set.side;
}

Augmenter::Options augmenter_options(const ImageSet& set, const ImageBatchOptions& options) {
    const int side = static_cast<int>(set.side);
    return {options.augmentation, options.statistics, options.seed, side, side};
}

}  // namespace

ImageBatches::ImageBatches(const ImageSet& set, const Images& images, const ImageBatchOptions& options)
    : set_(&set),
      images_(&images),
      options_(options),
      sampler_({images.size(), options.batch, options.passes, options.drop_last, options.seed}) {
    require(options.workers > 0, "0 workers cannot prepare images, wanted at least 1");
    require(set.channels == 3, "images have ", set.channels, " channels, wanted 3");
    augmenters_.assign(options.workers, Augmenter(augmenter_options(set, options)));
}

ImageBatch ImageBatches::at(std::uint64_t number) {
    ImageBatch batch = next_.valid() && next_number_ == number ? next_.get() : ImageBatch();
    if (batch.images.empty()) {
        if (next_.valid()) next_.wait();  // it works on the same augmenters
        batch = make(number);
    }
    next_number_ = number + 1;
    next_ = std::async(std::launch::async, [this, after = number + 1] { return make(after); });
    return batch;
}

Feed ImageBatches::feed() {
    return [this](Program& program, std::uint64_t number) {
        const ImageBatch batch = at(number);
        program.write("images", batch.images);
        program.write("targets", batch.targets);
    };
}

ImageBatch ImageBatches::make(std::uint64_t number) {
    const std::uint64_t epoch = number / sampler_.batches();
    const std::size_t in_epoch = number % sampler_.batches();
    const std::span<const std::size_t> chosen = sampler_.batch(epoch, in_epoch);
    ImageBatch made{std::vector<float>(options_.batch * image_elements(*set_)),
                    std::vector<float>(options_.batch * set_->classes())};
    augment(chosen, epoch, sampler_.first_place(in_epoch), made.images);

    std::vector<std::int32_t> labels;
    for (const std::size_t image : chosen) labels.push_back(images_->label(image));
    const int side = static_cast<int>(set_->side);
    const MixPlan plan = plan_mix(options_.seed, epoch, in_epoch, chosen.size(), side, side, options_.mix_probability);
    weigh(made, labels, plan.lambda);
    if (plan.kind == MixPlan::Kind::none) return made;
    weigh(made, partner_labels(plan, labels), 1 - plan.lambda);
    std::vector<float> mixed(made.images.size());
    const std::size_t used = chosen.size() * image_elements(*set_);
    mix(plan, std::span(made.images).first(used), side, side, std::span(mixed).first(used));
    made.images = std::move(mixed);
    return made;
}

/// Every worker takes a run of rows.
void ImageBatches::augment(std::span<const std::size_t> chosen, std::uint64_t epoch, std::size_t first,
                           std::span<float> out) {
    const std::size_t elements = image_elements(*set_), workers = augmenters_.size();
    const auto rows = [&](std::size_t worker) {
        for (std::size_t row = chosen.size() * worker / workers; row < chosen.size() * (worker + 1) / workers; ++row)
            augmenters_[worker].train(images_->pixels(chosen[row]), epoch, first + row,
                                      out.subspan(row * elements, elements));
    };
    std::vector<std::future<void>> others;
    for (std::size_t worker = 1; worker < workers; ++worker)
        others.push_back(std::async(std::launch::async, rows, worker));
    rows(0);
    for (std::future<void>& other : others) other.get();
}

/// Adds `share` of each row's label, smoothed, to its weights. The loss is a mean over all rows of the batch, so
/// weights make up for those that are missing.
void ImageBatches::weigh(ImageBatch& batch, std::span<const std::int32_t> labels, double share) const {
    const std::size_t classes = set_->classes();
    const double whole = share * static_cast<double>(options_.batch) / static_cast<double>(labels.size());
    const double even = whole * options_.label_smoothing / static_cast<double>(classes);
    for (std::size_t row = 0; row < labels.size(); ++row)
        for (std::size_t j = 0; j < classes; ++j) {
            const bool own = j == static_cast<std::size_t>(labels[row]);
            batch.targets[row * classes + j] +=
                static_cast<float>(even + (own ? whole * (1 - options_.label_smoothing) : 0.0));
        }
}

ImageBatch plain_batch(const ImageSet& set, const Images& images, const Statistics& statistics, std::size_t batch,
                       std::size_t number) {
    const std::size_t elements = image_elements(set), first = number * batch;
    const std::size_t rows = std::min(batch, images.size() - first);
    ImageBatch made{std::vector<float>(batch * elements), std::vector<float>(batch * set.classes())};
    Augmenter augmenter(augmenter_options(set, {.statistics = statistics}));
    for (std::size_t row = 0; row < rows; ++row) {
        augmenter.evaluate(images.pixels(first + row), std::span(made.images).subspan(row * elements, elements));
        made.targets[row * set.classes() + static_cast<std::size_t>(images.label(first + row))] =
            static_cast<float>(static_cast<double>(batch) / static_cast<double>(rows));
    }
    return made;
}

}  // namespace vkf
