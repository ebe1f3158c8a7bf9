// Evaluating a vision model on a split of images, batch by batch.
#pragma once

#include <cstddef>
#include <string>

#include "models/images/confusion.h"
#include "models/model_config.h"
#include "models/train/image_feed.h"

namespace vkf {

/// Throws InputError where the set's images have another side or other channels than the model takes, or its classes
/// are not the model's: as many, of the same names, where the model has them, in the same order. `data` and `config`,
/// the model's file, are named.
void require_fit(const ImageSet& set, const std::string& data, const ModelConfig& model, const std::string& config);

/// Feeds all images of a split in order to a program with the inputs of image_loss, and keeps what its outputs `logits`
/// and `loss` say of them. With `label_smoothing` the loss is that of labels smoothed as in training.
class ImageEvaluation {
public:
    ImageEvaluation(const ImageSet& set, const Images& images, const Statistics& statistics, std::int64_t batch,
                    double label_smoothing = 0);

    std::int64_t batches() const;
    std::int64_t images() const { return static_cast<std::int64_t>(images_->size()); }
    /// Writes batch `number`.
    void feed(Program& program, std::uint64_t number);
    /// Takes what a run made of the batch that was fed last.
    void update(Program& program);

    /// Mean cross-entropy of the images seen so far.
    double loss() const { return loss_ / static_cast<double>(confusions_.count()); }
    const ConfusionMatrix& confusions() const { return confusions_; }

private:
    const ImageSet* set_;
    const Images* images_;
    Statistics statistics_;
    std::size_t batch_, number_ = 0;
    double label_smoothing_, loss_ = 0;
    ConfusionMatrix confusions_;
};

}  // namespace vkf
