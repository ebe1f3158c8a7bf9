#include "models/data/pairs/pair_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/integers.h"
#include "base/random.h"
#include "models/data/pairs/length_buckets.h"

namespace vkf {

namespace {

/// Rows are a multiple of this where there are so many: kernels take rows in groups.
constexpr std::int64_t ROW_GROUP = 8;

/// Shape of a bucket of these pairs: as many rows as `tokens` tokens allow, but no more than there are pairs.
PairShape shape_of_bucket(const SentencePairs& pairs, const std::vector<std::size_t>& bucket, std::int64_t tokens) {
    PairShape shape;
    for (const std::size_t i : bucket) {
        shape.source = std::max(shape.source, std::ssize(pairs.source(i)));
        shape.target = std::max(shape.target, std::ssize(pairs.target(i)));
    }
    const std::int64_t fit = std::max<std::int64_t>(1, tokens / std::max(shape.source, shape.target));
    shape.rows = std::min(fit < ROW_GROUP ? fit : fit / ROW_GROUP * ROW_GROUP, std::ssize(bucket));
    return shape;
}

}  // namespace

PairBatches::PairBatches(std::string name, const SentencePairs& pairs, std::int32_t begin, const Options& options)
    : name_(std::move(name)), pairs_(pairs), begin_(begin), options_(options) {
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < pairs.size(); ++i) lengths.push_back(pairs.length(i));
    require(options.tokens >= *std::ranges::max_element(lengths), name_, " batches: ", options.tokens,
            " tokens, wanted at least those of the longest sentence, ", *std::ranges::max_element(lengths));
    const std::vector<std::int64_t> bounds = bucket_bounds(lengths, options.buckets);
    buckets_.resize(bounds.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto bucket = std::ranges::lower_bound(bounds, lengths[i]) - bounds.begin();
        buckets_[static_cast<std::size_t>(bucket)].push_back(i);
    }
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        shapes_.push_back(shape_of_bucket(pairs, buckets_[b], options.tokens));
        for (std::size_t first = 0; first < buckets_[b].size(); first += as_index(shapes_[b].rows))
            slots_.push_back({b, first});
    }
}

const PairBatches::Epoch& PairBatches::epoch(std::uint64_t number) const {
    if (epoch_ && epoch_->number == number) return *epoch_;
    Epoch made{number, buckets_, std::vector<std::size_t>(slots_.size())};
    std::iota(made.slots.begin(), made.slots.end(), std::size_t{0});
    if (options_.shuffled) {
        Random order(options_.seed, "pairs/" + name_, number);
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            const std::vector<std::size_t> drawn = order.permutation(buckets_[b].size());
            for (std::size_t i = 0; i < drawn.size(); ++i) made.pairs[b][i] = buckets_[b][drawn[i]];
        }
        made.slots = Random(options_.seed, "batches/" + name_, number).permutation(slots_.size());
    }
    return epoch_.emplace(std::move(made));
}

const PairBatches::Slot& PairBatches::slot(std::uint64_t number) const {
    return slots_[epoch(number / count()).slots[static_cast<std::size_t>(number % count())]];
}

std::size_t PairBatches::shape_of(std::uint64_t number) const {
    return slot(number).bucket;
}

std::vector<std::size_t> PairBatches::pairs_of(std::uint64_t number) const {
    const Slot& at = slot(number);
    const std::vector<std::size_t>& all = epoch(number / count()).pairs[at.bucket];
    const std::size_t end = std::min(all.size(), at.first + as_index(shapes_[at.bucket].rows));
    return {all.begin() + static_cast<std::ptrdiff_t>(at.first), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::int64_t PairBatches::targets(std::uint64_t number) const {
    std::int64_t sum = 0;
    for (const std::size_t pair : pairs_of(number)) sum += std::ssize(pairs_.target(pair));
    return sum;
}

double PairBatches::padding() const {
    double room = 0, used = 0;
    for (const Slot& at : slots_) {
        const PairShape& shape = shapes_[at.bucket];
        room += static_cast<double>(shape.rows * (shape.source + shape.target));
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i)
        used += static_cast<double>(pairs_.source(i).size() + pairs_.target(i).size());
    return 1 - used / room;
}

Batch PairBatches::at(std::uint64_t number) const {
    const PairShape& shape = shapes_[slot(number).bucket];
    const std::size_t rows = as_index(shape.rows), sources = as_index(shape.source), targets = as_index(shape.target);
    Batch batch{{"source_tokens", std::vector<std::int32_t>(rows * sources)},
                {"source_lengths", std::vector<std::int32_t>(rows)},
                {"tokens", std::vector<std::int32_t>(rows * targets)},
                {"target_lengths", std::vector<std::int32_t>(rows)},
                {"targets", std::vector<std::int32_t>(rows * targets, -1)}};
    std::size_t row = 0;
    for (const std::size_t pair : pairs_of(number)) {
        const auto source = pairs_.source(pair), target = pairs_.target(pair);
        const auto row_of = [&](const char* name, std::size_t width) {
            return batch.find(name)->second.begin() + static_cast<std::ptrdiff_t>(row * width);
        };
        std::ranges::copy(source, row_of("source_tokens", sources));
        std::ranges::copy(target, row_of("targets", targets));
        *row_of("tokens", targets) = begin_;
        std::ranges::copy(target.first(target.size() - 1), row_of("tokens", targets) + 1);
        *row_of("source_lengths", 1) = static_cast<std::int32_t>(source.size());
        *row_of("target_lengths", 1) = static_cast<std::int32_t>(target.size());
        ++row;
    }
    return batch;
}

}  // namespace vkf
