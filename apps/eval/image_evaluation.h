// Evaluates a vision model on a split of images, batch by batch.
#pragma once

#include <cstddef>
#include <string>

#include "models/config/model_config.h"
#include "models/images/drawing/confusion.h"
#include "models/train/image_feed.h"

namespace vkf {

/// Throws InputError, naming `data` and the model's file `config`, unless the set's images have the side and channels
/// that the model takes and its classes are the model's: the same number and, if the model has names, the same names in
/// the same order.
void require_fit(const ImageSet& set, const std::string& data, const ModelConfig& model, const std::string& config);

/// Feeds all images of a split in order to a program with the inputs of image_loss, and collects its outputs `logits`
/// and `loss`.
class ImageEvaluation {
public:
    ImageEvaluation(const ImageSet& set, const Images& images, const PlainBatchOptions& options);

    std::int64_t batches() const { return static_cast<std::int64_t>(batches_.count()); }
    std::int64_t images() const { return static_cast<std::int64_t>(images_->size()); }
    /// Writes batch `number`.
    void feed(Program& program, std::uint64_t number);
    /// Takes the outputs of a run on the batch that was fed last.
    void update(Program& program);

    /// Mean cross-entropy of the images seen so far.
    double loss() const { return loss_ / static_cast<double>(confusions_.count()); }
    const ConfusionMatrix& confusions() const { return confusions_; }

private:
    const Images* images_;
    PlainBatches batches_;
    std::size_t batch_, number_ = 0;
    double loss_ = 0;
    ConfusionMatrix confusions_;
};

}  // namespace vkf
