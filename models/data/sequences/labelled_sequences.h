// Sequences of tokens with the class of each, and their batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/data/batch.h"
#include "models/data/pairs/bucketed_epochs.h"
#include "models/data/sequences/labelled_texts.h"
#include "models/sequence_model.h"
#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Texts in tokens, each with the tokens that begin and close it if the tokenizer has them, and their classes.
class LabelledSequences {
public:
    /// Encodes texts. Of a text that has more than `longest` tokens, the last before the closing one are left out. A
    /// class is the index of a label in `classes` or, if that is empty, the label's number, less than `class_count`.
    /// Throws: InputError naming the set and the number of an example that cannot be encoded, or of no class.
    LabelledSequences(const LabelledTexts& set, const Tokenizer& tokenizer, std::span<const std::string> classes,
                      std::int64_t class_count, std::int64_t longest);

    std::size_t size() const { return labels_.size(); }
    std::span<const std::int32_t> tokens(std::size_t i) const {
        return std::span(tokens_).subspan(begins_[i], begins_[i + 1] - begins_[i]);
    }
    std::int32_t label(std::size_t i) const { return labels_[i]; }
    std::int64_t length(std::size_t i) const { return std::ssize(tokens(i)); }

    /// Number of texts of which a part is left out.
    std::size_t cut() const { return cut_; }

private:
    Tokens tokens_;  // of all, one after the other
    std::vector<std::size_t> begins_{0};
    std::vector<std::int32_t> labels_;
    std::size_t cut_ = 0;
};

/// Micro-batches of sequences of similar length, so that a program for each shape reads them with little padding. The
/// last rows of a bucket's last batch may be empty, with length 0 and target -1. Epochs are those of BucketedEpochs,
/// whose items are "sequences".
class SequenceBatches {
public:
    struct Options {
        std::int64_t rows = 12;   // a bucket of fewer sequences has fewer
        std::size_t buckets = 8;  // at most
        std::uint64_t seed = 0;
        bool shuffled = true;
    };

    /// The sequences must outlive this object.
    SequenceBatches(std::string name, const LabelledSequences& sequences, const Options& options);

    /// Shapes of the buckets, the longest sequences last.
    const std::vector<SequenceShape>& shapes() const { return shapes_; }
    std::size_t shape_of(std::uint64_t number) const { return epochs_.bucket_of(number); }
    /// Micro-batches of an epoch.
    std::uint64_t count() const { return epochs_.count(); }
    /// Part of the tokens in all batches of an epoch that are padding.
    double padding() const;

    /// Inputs of sequence_loss() in micro-batch `number`.
    Batch at(std::uint64_t number) const;
    /// Number of sequences in it.
    std::int64_t sequences(std::uint64_t number) const { return std::ssize(epochs_.items_of(number)); }

private:
    const LabelledSequences& sequences_;
    std::vector<SequenceShape> shapes_;  // by bucket
    BucketedEpochs epochs_;
};

}  // namespace vkf
