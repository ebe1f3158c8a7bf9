// Batches of images for an image model's programs: augmented, mixed, with a weight for every class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/data/images/image_set.h"
#include "models/images/augmentation/augment.h"
#include "models/images/augmentation/mix.h"
#include "models/images/augmentation/sampler.h"
#include "models/train/batch_ring.h"
#include "models/train/trainer.h"

namespace vkf {

/// Shapes: images [B, C, side, side] normalised, targets [B, classes].
struct ImageBatch {
    std::vector<float> images, targets;
};

struct ImageBatchOptions {
    std::size_t batch = 128;
    std::size_t passes = 1;   // times that an epoch shows each image
    std::size_t repeats = 1;  // times that an image follows itself (models/images/augmentation/sampler.h)
    bool drop_last = false;   // leaves out an incomplete batch; else its missing rows are zeros with weight 0
    Augmentation augmentation = Augmentation::none;
    ResizedCrop crop = {};                           // of resized-crop-flip
    std::optional<TimmRandAugment> operations = {};  // after either crop and flip
    Statistics statistics = sl_cifar10;
    double noise_erasing = 0;  // probability of erasing a box by noise
    Mixing mixing = {.probability = 0};
    double label_smoothing = 0;  // weight spread evenly over the classes
    std::uint64_t seed = 0;
    std::size_t workers = 1;  // threads
};

/// Training batches by number, counted over all epochs. A batch is a function of its number and the options except
/// `workers`. While one batch is in use, each worker prepares another: memory is that of workers + 1 batches and one
/// picture for each (models/train/batch_ring.h).
class ImageBatches {
public:
    /// Throws InputError if there are no images, no workers, or images of a size that cannot be augmented.
    ImageBatches(const ImageSet& set, const Images& images, const ImageBatchOptions& options);

    /// Brings the images of each batch to the side that `side` returns for its number. To be called before the first
    /// batch.
    void resize(std::function<std::size_t(std::uint64_t number)> side) { side_ = std::move(side); }

    std::int64_t per_epoch() const { return static_cast<std::int64_t>(sampler_.batches()); }
    /// Batch of this number, valid until the next call. Fastest for consecutive numbers; any number is possible.
    /// Throws InputError naming a file that cannot be read.
    const ImageBatch& at(std::uint64_t number) { return ring_.at(number).batch; }
    Feed feed();

private:
    /// A batch in preparation.
    struct Draft {
        Augmenter augmenter;
        Picture picture = {};
        std::vector<std::size_t> chosen = {};
        std::vector<float> unmixed = {};
        ImageBatch batch = {};
    };

    /// Side of a batch's images.
    std::size_t side(std::uint64_t number) const;
    void choose(Draft& draft, std::uint64_t number);
    void make(Draft& draft, std::uint64_t number) const;

    const ImageSet* set_;
    const Images* images_;
    ImageBatchOptions options_;
    Sampler sampler_;
    std::function<std::size_t(std::uint64_t number)> side_;  // empty: the data's side
    BatchRing<Draft> ring_;
};

struct PlainBatchOptions {
    std::size_t batch = 128;
    Statistics statistics = sl_cifar10;
    double label_smoothing = 0;  // weight spread evenly over the classes
    std::size_t workers = 1;     // threads
};

/// Batches of all images in order, fitted to the data's side and normalised. Rows past the end have weight 0. Weights
/// are those of labels, one-hot or smoothed, times batch / rows: the mean loss over a batch is the mean over its
/// images.
class PlainBatches {
public:
    /// Throws InputError if there are no workers.
    PlainBatches(const ImageSet& set, const Images& images, const PlainBatchOptions& options);

    std::size_t count() const { return (images_->size() + options_.batch - 1) / options_.batch; }
    /// Batch of this number below count(), valid until the next call.
    /// Throws InputError naming a file that cannot be read.
    const ImageBatch& at(std::uint64_t number) { return ring_.at(number).batch; }

private:
    /// A batch in preparation.
    struct Draft {
        Augmenter augmenter;
        Picture picture = {};
        ImageBatch batch = {};
    };

    void make(Draft& draft, std::uint64_t number) const;

    const ImageSet* set_;
    const Images* images_;
    PlainBatchOptions options_;
    BatchRing<Draft> ring_;
};

}  // namespace vkf
