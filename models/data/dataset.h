// Tokens to train on, and the batches drawn from them: a pure function of (seed, name, number).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "models/data/text.h"
#include "models/data/tokens.h"
#include "models/tokenizers/load_tokenizer.h"

namespace vkf {

/// What --data names, as tokens for training and for validation.
///
///     directory with train.bin and val.bin    those; a tokenizer beside them is theirs
///     FILE.bin                                one token file, first 90 % for training
///     any other file, or directory of texts   text, first 90 % of the characters for training
///
/// Text becomes tokens by `encode`, a model's tokenizer; without one, by the vocabulary of the text's own characters.
/// All of the data is read once for its greatest token.
/// Throws: InputError naming the file and what is wrong with it, such as a token that its tokenizer does not have, or
/// one that no vocabulary of less than 2^31 has.
class TokenDataset {
public:
    using Encode = std::function<std::vector<std::int32_t>(std::string_view)>;

    static TokenDataset open(const std::filesystem::path& path, const Encode& encode = {});

    TokenSpan train() const { return train_; }
    TokenSpan val() const { return val_; }
    /// What made the tokens, where the data say so.
    const std::optional<SavedTokenizer>& tokenizer() const { return tokenizer_; }

    /// The tokenizer's, else one more than the greatest token.
    std::size_t vocabulary_size() const { return tokenizer_ ? (*tokenizer_)->size() : std::size_t{greatest_} + 1; }
    std::uint32_t greatest_token() const { return greatest_; }
    /// Throws: InputError naming file, place and token if one is not below `size`, that of a vocabulary `whose` file
    /// the message names.
    void require_below(std::size_t size, const std::string& whose) const;

    // The spans stay true in a move: neither mappings nor vectors move their contents.
    TokenDataset(TokenDataset&&) = default;
    TokenDataset& operator=(TokenDataset&&) = default;

private:
    TokenDataset() = default;
    void read_text_from(const std::filesystem::path& path, const Encode& encode);

    std::filesystem::path path_;
    std::vector<TokenFile> files_;
    TokenList encoded_;
    TokenSpan train_, val_;
    std::optional<SavedTokenizer> tokenizer_;
    std::uint32_t greatest_ = 0;
};

/// random: windows start anywhere, drawn with replacement; sequential: one window after the other.
enum class Order { random, sequential };

/// The words of --order.
/// Throws: InputError naming the word and the ones there are.
Order order_named(std::string_view word);

/// A micro-batch; targets are the tokens that follow.
/// Shapes: tokens, targets [B, T].
struct Batch {
    std::vector<std::int32_t> tokens, targets;
};

/// Makes of a batch of next tokens whatever else a model learns from text, such as words that it hides. A negative
/// target asks nothing.
using Objective = std::function<void(Batch&, Random&)>;

/// The micro-batches of one split, each found by its number, so that a run resumes from the number alone.
///
/// Row b of micro-batch t starts at token ((t·B + b)·T) mod (N − T) in sequential order, else at a
/// number drawn uniformly from [0, N − T) out of the stream (seed, "batch/" + name, t).
/// Throws: InputError unless N > T, B ≥ 1 and T ≥ 1.
class Batches {
public:
    struct Options {
        Order order = Order::random;
        std::size_t rows = 1;    // B
        std::size_t length = 1;  // T
        std::uint64_t seed = 0;
        Objective objective = {};  // else to tell the next token; draws from (seed, "objective/" + name, t)
    };

    Batches(std::string name, TokenSpan tokens, const Options& options);

    /// First token of every row of micro-batch t.
    std::vector<std::size_t> starts(std::uint64_t t) const;

    /// Micro-batch t.
    Batch at(std::uint64_t t) const;

private:
    std::string name_;
    TokenSpan tokens_;
    Options options_;
};

}  // namespace vkf
