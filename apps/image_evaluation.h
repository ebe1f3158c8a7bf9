// Judging a vision transformer on a split of images, batch by batch.
#pragma once

#include <cstddef>

#include "models/images/confusion.h"
#include "models/train/image_feed.h"
#include "models/vit.h"

namespace vkf {

/// Throws InputError where the set's images have another side or number of classes than the model takes.
void require_fit(const ImageSet& set, const VitConfig& model);

/// Feeds all images of a split in order to a program with the inputs of vit_loss, and keeps what its outputs `logits`
/// and `loss` say of them.
class ImageEvaluation {
public:
    ImageEvaluation(const ImageSet& set, const Images& images, const Statistics& statistics, std::int64_t batch);

    std::int64_t batches() const;
    std::int64_t images() const { return static_cast<std::int64_t>(images_->size()); }
    /// Writes batch `number`.
    void feed(Program& program, std::uint64_t number);
    /// Reads what a run made of the batch that was fed last.
    void judge(Program& program);

    /// Mean cross-entropy of the images judged so far.
    double loss() const { return loss_ / static_cast<double>(confusions_.count()); }
    const ConfusionMatrix& confusions() const { return confusions_; }

private:
    const ImageSet* set_;
    const Images* images_;
    Statistics statistics_;
    std::size_t batch_, number_ = 0;
    double loss_ = 0;
    ConfusionMatrix confusions_;
};

}  // namespace vkf
