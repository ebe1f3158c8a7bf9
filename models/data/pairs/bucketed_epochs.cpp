#include "models/data/pairs/bucketed_epochs.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/integers.h"
#include "base/random.h"
#include "models/data/pairs/length_buckets.h"

namespace vkf {

BucketedEpochs::BucketedEpochs(std::string_view name, std::span<const std::int64_t> lengths, const Options& options,
                               const Rows& rows)
    : items_stream_(text(options.kind, '/', name)),
      batches_stream_(text("batches/", name)),
      seed_(options.seed),
      shuffled_(options.shuffled) {
    const std::vector<std::int64_t> bounds = bucket_bounds(lengths, options.buckets);
    buckets_.resize(bounds.size());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const auto bucket = std::ranges::lower_bound(bounds, lengths[i]) - bounds.begin();
        buckets_[static_cast<std::size_t>(bucket)].push_back(i);
    }
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        rows_.push_back(rows(buckets_[b]));
        for (std::size_t first = 0; first < buckets_[b].size(); first += as_index(rows_[b]))
            slots_.push_back({b, first});
    }
}

const BucketedEpochs::Epoch& BucketedEpochs::epoch(std::uint64_t number) const {
    if (epoch_ && epoch_->number == number) return *epoch_;
    Epoch made{number, buckets_, std::vector<std::size_t>(slots_.size())};
    std::iota(made.slots.begin(), made.slots.end(), std::size_t{0});
    if (shuffled_) {
        Random order(seed_, items_stream_, number);
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            const std::vector<std::size_t> drawn = order.permutation(buckets_[b].size());
            for (std::size_t i = 0; i < drawn.size(); ++i) made.items[b][i] = buckets_[b][drawn[i]];
        }
        made.slots = Random(seed_, batches_stream_, number).permutation(slots_.size());
    }
    return epoch_.emplace(std::move(made));
}

const BucketedEpochs::Slot& BucketedEpochs::slot(std::uint64_t number) const {
    return slots_[epoch(number / count()).slots[static_cast<std::size_t>(number % count())]];
}

std::vector<std::size_t> BucketedEpochs::items_of(std::uint64_t number) const {
    const Slot& at = slot(number);
    const std::vector<std::size_t>& all = epoch(number / count()).items[at.bucket];
    const std::size_t end = std::min(all.size(), at.first + as_index(rows_[at.bucket]));
    return {all.begin() + static_cast<std::ptrdiff_t>(at.first), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace vkf
