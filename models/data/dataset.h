// Tokens to train and to validate on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/data/text.h"
#include "models/data/token_shards.h"
#include "models/data/token_stream.h"
#include "models/tokenizers/load_tokenizer.h"

namespace vkf {

/// What --data names, as tokens for training and for validation.
///
///     directory with train.bin and val.bin    those; a tokenizer beside them is theirs
///     directory of token_shards.h's shards    those, of each split one after the other; a tokenizer likewise
///     FILE.bin, FILE.npy                      one token file, first 90 % for training
///     any other file, or directory of texts   text, first 90 % of the characters for training
///
/// Text becomes tokens by `encode`, a model's tokenizer; without one, by the vocabulary of the text's own characters.
/// All of the data is read once for its greatest token; files stay on disk and are mapped.
/// Throws: InputError naming the file and what is wrong with it, such as a token that its tokenizer does not have, or
/// one that no vocabulary of less than 2^31 has, or a shard in another layout than the first.
class TokenDataset {
public:
    using Encode = std::function<std::vector<std::int32_t>(std::string_view)>;

    static TokenDataset open(const std::filesystem::path& path, const Encode& encode = {});

    const TokenStream& train() const { return train_; }
    const TokenStream& val() const { return val_; }
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
    void map_shards(const TokenShards& shards);
    TokenSpan map(const std::filesystem::path& file);
    void read_text_from(const std::filesystem::path& path, const Encode& encode);

    std::filesystem::path path_;
    std::vector<TokenFile> files_;
    TokenList encoded_;
    TokenStream train_, val_;
    std::optional<SavedTokenizer> tokenizer_;
    std::uint32_t greatest_ = 0;
};

}  // namespace vkf
