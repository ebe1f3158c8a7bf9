#include "models/data/sequences/labelled_sequences.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/integers.h"

namespace vkf {

namespace {

/// Class of a label; -1 if it has none.
std::int32_t class_of(const std::string& label, std::span<const std::string> classes, std::int64_t class_count) {
    if (!classes.empty()) {
        const auto found = std::ranges::find(classes, label);
        return found == classes.end() ? -1 : static_cast<std::int32_t>(found - classes.begin());
    }
    std::int32_t number = -1;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    const bool whole = error == std::errc() && end == label.data() + label.size();
    return whole && number >= 0 && number < class_count ? number : -1;
}

std::vector<std::int64_t> lengths_of(const LabelledSequences& sequences) {
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < sequences.size(); ++i) lengths.push_back(sequences.length(i));
    return lengths;
}

SequenceShape shape_of_bucket(const LabelledSequences& sequences, std::span<const std::size_t> bucket,
                              std::int64_t rows) {
    SequenceShape shape{.rows = std::min(rows, std::ssize(bucket))};
    for (const std::size_t i : bucket) shape.length = std::max(shape.length, sequences.length(i));
    return shape;
}

}  // namespace

LabelledSequences::LabelledSequences(const LabelledTexts& set, const Tokenizer& tokenizer,
                                     std::span<const std::string> classes, std::int64_t class_count,
                                     std::int64_t longest) {
    const auto begin = tokenizer.begin_of_text(), closing = tokenizer.closing_token();
    const std::int64_t around = (begin ? 1 : 0) + (closing ? 1 : 0);
    require(longest > around, "a sequence has room for ", longest, " tokens, wanted more than the ", around,
            " around a text");
    const auto room = static_cast<std::size_t>(longest - around);
    for (std::size_t i = 0; i < set.size(); ++i) try {
            const std::int32_t label = class_of(set.labels[i], classes, class_count);
            require(label >= 0, "the label is '", set.labels[i], "', wanted ",
                    classes.empty() ? text("0 to ", class_count - 1)
                                    : text("one of the model's ", classes.size(), " classes"));
            Tokens tokens = tokenizer.encode(set.texts[i]);
            require(!tokens.empty() || around > 0, "the text has no tokens");
            if (tokens.size() > room) {
                tokens.resize(room);
                ++cut_;
            }
            if (begin) tokens_.push_back(*begin);
            tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
            if (closing) tokens_.push_back(*closing);
            begins_.push_back(tokens_.size());
            labels_.push_back(label);
        } catch (const InputError& error) {
            throw InputError(set.name, ": example ", i + 1, ": ", error.what());
        }
}

SequenceBatches::SequenceBatches(std::string name, const LabelledSequences& sequences, const Options& options)
    : sequences_(sequences),
      epochs_(name, lengths_of(sequences),
              {.kind = "sequences", .buckets = options.buckets, .seed = options.seed, .shuffled = options.shuffled},
              [&](std::span<const std::size_t> bucket) {
                  shapes_.push_back(shape_of_bucket(sequences, bucket, options.rows));
                  return shapes_.back().rows;
              }) {}

double SequenceBatches::padding() const {
    double room = 0, used = 0;
    for (std::uint64_t number = 0; number < count(); ++number) {
        const SequenceShape& shape = shapes_[shape_of(number)];
        room += static_cast<double>(shape.rows * shape.length);
    }
    for (std::size_t i = 0; i < sequences_.size(); ++i) used += static_cast<double>(sequences_.length(i));
    return 1 - used / room;
}

Batch SequenceBatches::at(std::uint64_t number) const {
    const SequenceShape& shape = shapes_[shape_of(number)];
    const std::size_t rows = as_index(shape.rows), length = as_index(shape.length);
    std::vector<std::int32_t> tokens(rows * length), lengths(rows), targets(rows, -1);
    std::size_t row = 0;
    for (const std::size_t i : epochs_.items_of(number)) {
        std::ranges::copy(sequences_.tokens(i), tokens.begin() + static_cast<std::ptrdiff_t>(row * length));
        lengths[row] = static_cast<std::int32_t>(sequences_.length(i));
        targets[row++] = sequences_.label(i);
    }
    return {{"tokens", std::move(tokens)}, {"lengths", std::move(lengths)}, {"targets", std::move(targets)}};
}

}  // namespace vkf
