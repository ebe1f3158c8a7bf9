#include "models/data/pairs/pair_batches.h"

#include <algorithm>

#include "base/error.h"
#include "base/integers.h"

namespace vkf {

namespace {

/// Rows are a multiple of this where there are so many: kernels take rows in groups.
constexpr std::int64_t ROW_GROUP = 8;

/// Shape of a bucket of these pairs: as many rows as `tokens` tokens allow, but no more than there are pairs.
PairShape shape_of_bucket(const SentencePairs& pairs, std::span<const std::size_t> bucket, std::int64_t tokens) {
    PairShape shape;
    for (const std::size_t i : bucket) {
        shape.source = std::max(shape.source, std::ssize(pairs.source(i)));
        shape.target = std::max(shape.target, std::ssize(pairs.target(i)));
    }
    const std::int64_t fit = std::max<std::int64_t>(1, tokens / std::max(shape.source, shape.target));
    shape.rows = std::min(fit < ROW_GROUP ? fit : fit / ROW_GROUP * ROW_GROUP, std::ssize(bucket));
    return shape;
}

std::vector<std::int64_t> lengths_of(const SentencePairs& pairs) {
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < pairs.size(); ++i) lengths.push_back(pairs.length(i));
    return lengths;
}

}  // namespace

PairBatches::PairBatches(std::string name, const SentencePairs& pairs, std::int32_t begin, const Options& options)
    : pairs_(pairs),
      begin_(begin),
      epochs_(name, lengths_of(pairs),
              {.kind = "pairs", .buckets = options.buckets, .seed = options.seed, .shuffled = options.shuffled},
              [&](std::span<const std::size_t> bucket) {
                  shapes_.push_back(shape_of_bucket(pairs, bucket, options.tokens));
                  return shapes_.back().rows;
              }) {
    const std::int64_t longest = std::ranges::max(lengths_of(pairs));
    require(options.tokens >= longest, name, " batches: ", options.tokens,
            " tokens, wanted at least those of the longest sentence, ", longest);
}

std::int64_t PairBatches::targets(std::uint64_t number) const {
    std::int64_t sum = 0;
    for (const std::size_t pair : epochs_.items_of(number)) sum += std::ssize(pairs_.target(pair));
    return sum;
}

double PairBatches::padding() const {
    double room = 0, used = 0;
    for (std::uint64_t number = 0; number < count(); ++number)
        room += static_cast<double>(shape(number).rows * (shape(number).source + shape(number).target));
    for (std::size_t i = 0; i < pairs_.size(); ++i)
        used += static_cast<double>(pairs_.source(i).size() + pairs_.target(i).size());
    return 1 - used / room;
}

Batch PairBatches::at(std::uint64_t number) const {
    const PairShape& room = shape(number);
    const std::size_t rows = as_index(room.rows), sources = as_index(room.source), targets = as_index(room.target);
    Batch batch{{"source_tokens", std::vector<std::int32_t>(rows * sources)},
                {"source_lengths", std::vector<std::int32_t>(rows)},
                {"tokens", std::vector<std::int32_t>(rows * targets)},
                {"target_lengths", std::vector<std::int32_t>(rows)},
                {"targets", std::vector<std::int32_t>(rows * targets, -1)}};
    std::size_t row = 0;
    for (const std::size_t pair : epochs_.items_of(number)) {
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
