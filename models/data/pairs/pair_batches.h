// Batches of pairs of sentences, by length: a pure function of (seed, name, number).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/data/batch.h"
#include "models/data/pairs/bucketed_epochs.h"
#include "models/data/pairs/sentence_pairs.h"
#include "models/translation_model.h"

namespace vkf {

/// Micro-batches of pairs. Pairs of similar length are in one bucket, and a batch is drawn from one bucket, whose shape
/// it has: a program for each shape reads them with little padding. A batch has as many rows as fit into `tokens`
/// tokens, counting for each row the longest sentence of the bucket; the last rows of a bucket's last batch may be
/// empty, with length 0 and no targets.
///
/// Epochs are those of BucketedEpochs, whose items are "pairs".
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
    std::size_t shape_of(std::uint64_t number) const { return epochs_.bucket_of(number); }
    /// Micro-batches of an epoch.
    std::uint64_t count() const { return epochs_.count(); }
    /// Part of the tokens in all batches of an epoch that are padding, of sources and targets.
    double padding() const;

    /// Inputs of translation_loss() in micro-batch `number`.
    Batch at(std::uint64_t number) const;
    /// Number of target tokens in it.
    std::int64_t targets(std::uint64_t number) const;

private:
    const PairShape& shape(std::uint64_t number) const { return shapes_[shape_of(number)]; }

    const SentencePairs& pairs_;
    std::int32_t begin_;
    std::vector<PairShape> shapes_;  // by bucket
    BucketedEpochs epochs_;
};

}  // namespace vkf
