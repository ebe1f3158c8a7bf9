// Batches of images on their way into a vision model's programs: augmented, mixed, with a weight for every class.
#pragma once

#include <cstdint>
#include <future>
#include <mutex>
#include <span>
#include <vector>

#include "models/data/image_set.h"
#include "models/images/augment.h"
#include "models/images/sampler.h"
#include "models/train/trainer.h"

namespace vkf {

/// Shapes: images [B, C, side, side] normalised, targets [B, classes].
struct ImageBatch {
    std::vector<float> images, targets;
};

struct ImageBatchOptions {
    std::size_t batch = 128;
    std::size_t passes = 1;  // times that an epoch shows each image
    bool drop_last = false;  // leave out an incomplete batch; else its missing rows are zeros that weigh nothing
    Augmentation augmentation = Augmentation::none;
    Statistics statistics = sl_cifar10;
    double mix_probability = 0;  // of MixUp or CutMix, half each
    double label_smoothing = 0;  // weight spread evenly over the classes
    std::uint64_t seed = 0;
    std::size_t workers = 1;  // threads
};

/// Training batches by number, counted over all epochs. A batch is a function of its number and the options, workers
/// apart; the one after it is prepared while it is in use.
class ImageBatches {
public:
    /// Throws InputError if there are no images, no workers, or images of a size that cannot be augmented.
    ImageBatches(const ImageSet& set, const Images& images, const ImageBatchOptions& options);
    ImageBatches(const ImageBatches&) = delete;  // a thread works on it

    std::int64_t per_epoch() const { return static_cast<std::int64_t>(sampler_.batches()); }
    ImageBatch at(std::uint64_t number);
    Feed feed();

private:
    ImageBatch make(std::uint64_t number);
    void augment(std::span<const std::size_t> chosen, std::uint64_t epoch, std::size_t first, std::span<float> out);
    void weigh(ImageBatch& batch, std::span<const std::int32_t> labels, double share) const;

    const ImageSet* set_;
    const Images* images_;
    ImageBatchOptions options_;
    Sampler sampler_;
    std::vector<Augmenter> augmenters_;  // one per worker
    std::uint64_t next_number_ = 0;
    std::future<ImageBatch> next_;
};

/// All images in order, `batch` at a time, nothing done to them but the normalisation. Rows past the end weigh nothing.
/// Weights are those of one-hot labels times batch / rows, so that the mean loss over a batch is that over its images.
ImageBatch plain_batch(const ImageSet& set, const Images& images, const Statistics& statistics, std::size_t batch,
                       std::size_t number);

}  // namespace vkf
