// Epochs over items of unequal lengths, in batches of items of similar length: a pure function of (seed, name, number).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// Items of similar length are in one bucket, and a batch is drawn from one bucket. Every epoch of count() batches has
/// each item once. With `shuffled`, epoch e draws the order of the items and that of the batches from the streams
/// (seed, KIND/NAME, e), of the kind of the items, and (seed, "batches/" + NAME, e).
class BucketedEpochs {
public:
    struct Options {
        std::string_view kind;    // "pairs"
        std::size_t buckets = 8;  // at most
        std::uint64_t seed = 0;
        bool shuffled = true;
    };

    /// Number of items in a batch of a bucket with these items, at least 1.
    using Rows = std::function<std::int64_t(std::span<const std::size_t> bucket)>;

    /// `lengths` are those of all items, at least 1 each. `rows` is called once for each bucket, the longest items
    /// last.
    BucketedEpochs(std::string_view name, std::span<const std::int64_t> lengths, const Options& options,
                   const Rows& rows);

    /// Micro-batches of an epoch.
    std::uint64_t count() const { return slots_.size(); }
    /// Bucket and items of micro-batch `number`. The last batch of a bucket may have fewer items than others.
    std::size_t bucket_of(std::uint64_t number) const { return slot(number).bucket; }
    std::vector<std::size_t> items_of(std::uint64_t number) const;

private:
    /// A batch of an epoch before batches are shuffled: items [first, …) of a bucket.
    struct Slot {
        std::size_t bucket, first;
    };
    /// Orders of an epoch.
    struct Epoch {
        std::uint64_t number = 0;
        std::vector<std::vector<std::size_t>> items;  // by bucket
        std::vector<std::size_t> slots;
    };

    const Epoch& epoch(std::uint64_t number) const;
    const Slot& slot(std::uint64_t number) const;

    std::string items_stream_, batches_stream_;
    std::uint64_t seed_;
    bool shuffled_;
    std::vector<std::vector<std::size_t>> buckets_;  // items, in their order
    std::vector<std::int64_t> rows_;                 // of a batch, by bucket
    std::vector<Slot> slots_;
    mutable std::optional<Epoch> epoch_;  // the last one asked for
};

}  // namespace vkf
