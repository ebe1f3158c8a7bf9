// Batches of images for an image model's programs: augmented, mixed, with a weight for every class.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <utility>
#include <vector>

#include "models/data/images/image_set.h"
#include "models/images/augmentation/augment.h"
#include "models/images/augmentation/sampler.h"
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
    Statistics statistics = sl_cifar10;
    double noise_erasing = 0;    // probability of erasing a box by noise
    double mix_probability = 0;  // probability of MixUp or CutMix, half each
    double label_smoothing = 0;  // weight spread evenly over the classes
    std::uint64_t seed = 0;
    std::size_t workers = 1;  // threads
};

/// Training batches by number, counted over all epochs. A batch is a function of its number and the options except
/// `workers`. While one batch is in use, each worker prepares another in a thread of its own: threads never wait for
/// each other within a batch, and memory is that of workers + 1 batches.
class ImageBatches {
public:
    /// Throws InputError if there are no images, no workers, or images of a size that cannot be augmented.
    ImageBatches(const ImageSet& set, const Images& images, const ImageBatchOptions& options);
    ImageBatches(const ImageBatches&) = delete;  // threads use the object

    /// Brings the images of each batch to the side that `side` returns for its number, by PIL's bicubic filter, before
    /// they are augmented. To be called before the first batch.
    void resize(std::function<std::int64_t(std::uint64_t number)> side) { side_ = std::move(side); }

    std::int64_t per_epoch() const { return static_cast<std::int64_t>(sampler_.batches()); }
    /// Batch of this number, valid until the next call. Fastest for consecutive numbers; any number is possible.
    const ImageBatch& at(std::uint64_t number);
    Feed feed();

private:
    /// Place in which a batch is prepared; its memory is reused.
    struct Slot {
        Slot(const Augmenter& like, int width) : augmenter(like), side(width) {}

        Augmenter augmenter;
        int side;  // of the augmenter's images
        std::vector<std::size_t> chosen;
        std::vector<float> unmixed;
        ImageBatch batch;
        std::uint64_t number = 0;
        std::future<void> made;  // valid from the start of the work until its result is taken
    };

    Slot& slot_of(std::uint64_t number) { return slots_[number % slots_.size()]; }
    void prepare(std::uint64_t number);
    void make(Slot& slot) const;

    const ImageSet* set_;
    const Images* images_;
    ImageBatchOptions options_;
    Sampler sampler_;
    std::function<std::int64_t(std::uint64_t number)> side_;  // empty: the data's
    std::vector<Slot> slots_;                                 // a ring by number: one in use and one per worker
};

/// Batch `number` of all images in order, only normalised. Rows past the end have weight 0. Weights are those of
/// labels, one-hot or smoothed, times batch / rows: the mean loss over a batch is the mean over its images.
ImageBatch plain_batch(const ImageSet& set, const Images& images, const Statistics& statistics, std::size_t batch,
                       std::size_t number, double label_smoothing = 0);

}  // namespace vkf
