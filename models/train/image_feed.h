// Batches of images on their way into a vision model's programs: augmented, mixed, with a weight for every class.
#pragma once

#include <cstdint>
#include <future>
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
/// apart. While one is in use, as many as there are workers are being prepared, each by a thread of its own: threads
/// never wait for each other within a batch, and there is memory for one batch more than there are workers.
class ImageBatches {
public:
    /// Throws InputError if there are no images, no workers, or images of a size that cannot be augmented.
    ImageBatches(const ImageSet& set, const Images& images, const ImageBatchOptions& options);
    ImageBatches(const ImageBatches&) = delete;  // a thread works on it

    std::int64_t per_epoch() const { return static_cast<std::int64_t>(sampler_.batches()); }
    /// Valid until the next call. Quickest when numbers follow one another; any number can be asked for.
    const ImageBatch& at(std::uint64_t number);
    Feed feed();

private:
    /// Where one batch is prepared; its memory is used again and again.
    struct Slot {
        explicit Slot(const Augmenter& like) : augmenter(like) {}

        Augmenter augmenter;
        std::vector<std::size_t> chosen;
        std::vector<float> unmixed;
        ImageBatch batch;
        std::uint64_t number = 0;
        std::future<void> made;  // valid from the start of the work until somebody has waited for it
    };

    Slot& slot_of(std::uint64_t number) { return slots_[number % slots_.size()]; }
    void prepare(std::uint64_t number);
    void make(Slot& slot) const;

    const ImageSet* set_;
    const Images* images_;
    ImageBatchOptions options_;
    Sampler sampler_;
    std::vector<Slot> slots_;  // a ring by number: one in use and one per worker
};

/// All images in order, `batch` at a time, nothing done to them but the normalisation. Rows past the end weigh nothing.
/// Weights are those of labels, one-hot or smoothed, times batch / rows: the mean loss over a batch is that over its
/// images.
ImageBatch plain_batch(const ImageSet& set, const Images& images, const Statistics& statistics, std::size_t batch,
                       std::size_t number, double label_smoothing = 0);

}  // namespace vkf
