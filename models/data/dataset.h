// Tokens for training and for validation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/data/text/text.h"
#include "models/data/text/token_shards.h"
#include "models/data/text/token_stream.h"
#include "models/tokenizers/load_tokenizer.h"

namespace vkf {

/// The data that --data names, as tokens for training and for validation.
///
///     directory with train.bin and val.bin    these files; a tokenizer in the directory is theirs
///     directory of token_shards.h's shards    the shards of each split, one after the other; a tokenizer likewise
///     FILE.bin, FILE.npy                      one token file, first 90 % for training
///     any other file, or directory of texts   text, first 90 % of the characters for training
///
/// `encode`, a model's tokenizer, turns text into tokens; without it, the text's own characters are the vocabulary. All
/// data are read once to find the largest token; files stay on disk and are mapped.
/// Throws: InputError naming the file and what is wrong with it, such as a token that its tokenizer does not have, a
/// token that no vocabulary of less than 2^31 has, or a shard in another layout than the first.
class TokenDataset {
public:
    using Encode = std::function<std::vector<std::int32_t>(std::string_view)>;

    static TokenDataset open(const std::filesystem::path& path, const Encode& encode = {});

    const TokenStream& train() const { return train_; }
    const TokenStream& val() const { return val_; }
    /// The tokenizer that made the tokens, if it is stored with the data.
    const std::optional<SavedTokenizer>& tokenizer() const { return tokenizer_; }

    /// Size of the tokenizer's vocabulary; without a tokenizer, one more than the largest token.
    std::size_t vocabulary_size() const { return tokenizer_ ? (*tokenizer_)->size() : std::size_t{greatest_} + 1; }
    std::uint32_t greatest_token() const { return greatest_; }
    /// Throws: InputError naming file, place and token if a token is not below `size`. `whose` says in the message
    /// whose vocabulary has this size.
    void require_below(std::size_t size, const std::string& whose) const;

    // The spans stay valid in a move: neither mappings nor vectors move their contents.
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
