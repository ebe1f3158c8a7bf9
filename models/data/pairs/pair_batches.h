// Batches of pairs of sentences, by length: a pure function of (seed, name, number).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/data/batch.h"
#include "models/data/pairs/sentence_pairs.h"
#include "models/translation_model.h"

namespace vkf {

/// Micro-batches of pairs. Pairs of similar length are in one bucket, and a batch is drawn from one bucket, whose shape
/// it has: a program for each shape reads them with little padding. A batch has as many rows as fit into `tokens`
/// tokens, counting for each row the longest sentence of the bucket; the last rows of a bucket's last batch may be
/// empty, with length 0 and no targets.
///
/// Every epoch of count() batches has each pair once. With `shuffled`, epoch e draws the order of the pairs and that of
/// the batches from the streams (seed, "pairs/" + name, e) and (seed, "batches/" + name, e).
class PairBatches {
public:
    struct Options {
        std::int64_t tokens = 4096;
        std::size_t buckets = 8;  // at most
        std::uint64_t seed = 0;
        bool shuffled = true;
    };

    /// `begin` is the token before a target's first. The pairs must outlive this object.
    PairBatches(std::string name, const SentencePairs& pairs, std::int32_t begin, const Options& options);

    /// Shapes of the buckets, the longest sentences last.
    const std::vector<PairShape>& shapes() const { return shapes_; }
    std::size_t shape_of(std::uint64_t number) const;
    /// Micro-batches of an epoch.
    std::uint64_t count() const { return slots_.size(); }
    /// Part of the tokens in all batches of an epoch that are padding, of sources and targets.
    double padding() const;

    /// Inputs of translation_loss() in micro-batch `number`.
    Batch at(std::uint64_t number) const;
    /// Number of target tokens in it.
    std::int64_t targets(std::uint64_t number) const;

private:
    /// A batch of an epoch before batches are shuffled: rows [first, …) of a bucket.
    struct Slot {
        std::size_t bucket, first;
    };
    /// Orders of an epoch.
    struct Epoch {
        std::uint64_t number = 0;
        std::vector<std::vector<std::size_t>> pairs;  // by bucket
        std::vector<std::size_t> slots;
    };

    const Epoch& epoch(std::uint64_t number) const;
    const Slot& slot(std::uint64_t number) const;
    std::vector<std::size_t> pairs_of(std::uint64_t number) const;

    std::string name_;
    const SentencePairs& pairs_;
    std::int32_t begin_;
    Options options_;
    std::vector<std::vector<std::size_t>> buckets_;  // pairs, in their order
    std::vector<PairShape> shapes_;
    std::vector<Slot> slots_;
    mutable std::optional<Epoch> epoch_;  // the last one asked for
};

}  // namespace vkf
