#include "models/data/dataset.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/files/published.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

/// Encodes a part of a text; messages begin with `where`.
std::vector<std::int32_t> encode_part(const std::string& where, std::string_view text,
                                      const TokenDataset::Encode& encode) try {
    return encode(text);
} catch (const InputError& error) {
    throw InputError(where, ": ", error.what());
}

}  // namespace

TokenDataset TokenDataset::open(const fs::path& path, const Encode& encode) {
    std::error_code ignored;
    require(fs::exists(path, ignored), "data ", path.string(),
            ": does not exist, wanted a text, a token file or a directory of them");
    TokenDataset data;
    data.path_ = path;
    const fs::path train = path / "train.bin", val = path / "val.bin";
    const bool directory = fs::is_directory(path, ignored);
    const bool pair = directory && (file_exists(train) || file_exists(val));
    const TokenShards shards = directory ? find_token_shards(path) : TokenShards{};
    require(!pair || shards.empty(), path.string(), ": has train.bin or val.bin and shards (",
            shards.empty() ? "" : shards.train.front().filename().string(), ", …), wanted one of the two");
    if (pair || !shards.empty()) {
        data.map_shards(pair ? TokenShards{{train}, {val}} : shards);
        data.tokenizer_ = find_tokenizer(path);
    } else if (has_token_extension(path) && !directory) {
        const TokenSpan tokens = data.map(path);
        const std::size_t training = training_share(tokens.size());
        data.train_ = tokens.first(training);
        data.val_ = tokens.subspan(training);
    } else {
        data.read_text_from(path, encode);
    }
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    data.require_below(most, text("a vocabulary has at most ", most));
    if (const auto& tokenizer = data.tokenizer_)
        data.require_below((*tokenizer)->size(), text(tokenizer->path.string(), " has ", (*tokenizer)->size()));
    return data;
}

TokenSpan TokenDataset::map(const fs::path& path) {
    // A temporary mapping, whose pages go with it: of many shards, at most one is in memory.
    greatest_ = std::max(greatest_, vkf::greatest_token(TokenFile(path).tokens()));
    return files_.emplace_back(path).tokens();
}

void TokenDataset::map_shards(const TokenShards& shards) {
    const auto map_all = [&](const std::vector<fs::path>& paths) {
        const std::size_t first = files_.size();
        std::vector<TokenSpan> spans;
        for (const fs::path& path : paths) {
            spans.push_back(map(path));
            require(files_.back().layout() == files_[first].layout(), path.string(), ": has ", files_.back().layout(),
                    ", wanted ", files_[first].layout(), " as in ", paths.front().filename().string());
        }
        return TokenStream(std::move(spans));
    };
    train_ = map_all(shards.train);
    val_ = map_all(shards.val);
}

void TokenDataset::require_below(std::size_t size, const std::string& whose) const {
    if (greatest_ < size) return;
    const auto look = [&](const fs::path& where, TokenSpan tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i)
            require(tokens[i] < size, where.string(), ": token ", i, " is ", tokens[i], ", wanted 0 to ", size - 1,
                    " (", whose, ")");
    };
    for (const TokenFile& file : files_) look(file.path(), file.tokens());
    look(path_, encoded_);
}

void TokenDataset::read_text_from(const fs::path& path, const Encode& encode) {
    const std::string text = read_corpus(path);
    const auto [train, val] = split_text(text);
    std::size_t training = 0;
    if (encode) {
        std::vector<std::int32_t> tokens = encode_part(path.string(), train, encode);
        training = tokens.size();
        const auto rest = encode_part(path.string() + ": validation part", val, encode);
        tokens.insert(tokens.end(), rest.begin(), rest.end());
        encoded_ = packed_tokens(tokens);
    } else {
        const auto characters = std::make_shared<const Characters>(Characters::of(text));
        tokenizer_ = SavedTokenizer{characters, "chars.json", {{"chars.json", characters->json()}}};
        encoded_ = characters->tokens_of(text);
        training = training_share(TokenSpan(encoded_).size());
    }
    train_ = TokenSpan(encoded_).first(training);
    val_ = TokenSpan(encoded_).subspan(training);
    greatest_ = vkf::greatest_token(encoded_);
}

}  // namespace vkf
