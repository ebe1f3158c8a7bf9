// Tokenizers of Hugging Face's Marian models: pieces of two SentencePiece models, with numbers from vocab.json.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/sentencepiece/piece_model.h"
#include "models/tokenizers/token_names.h"
#include "models/tokenizers/token_settings.h"
#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Tokenizer of one language. A text is cut into pieces by the language's model, and a piece that the vocabulary lacks
/// is <unk>. If a text begins with the name of a language, ">>NAME<<", the name up to the first "<<" is one token, and
/// the rest is cut. A token that the model does not have, such as a piece of the other language, stands for its
/// characters. The names of the unknown token, the padding and the end are special tokens.
class MarianTokenizer final : public Tokenizer {
public:
    /// `unknown` and `end` are the numbers of the tokens for unknown pieces and for the end of texts.
    MarianTokenizer(std::shared_ptr<const PieceModel> model, const TokenNames& names, std::vector<AddedToken> added,
                    std::int32_t unknown, std::int32_t end);

    std::size_t size() const override { return bytes_.size(); }
    std::string bytes(std::int32_t token) const override { return bytes_[index_of(token)]; }
    std::unique_ptr<TextEncoder> text_encoder() const override;
    bool prepends_space() const override { return true; }
    const char* unit() const override { return "pieces"; }

private:
    friend class MarianEncoder;
    std::int32_t token_of(const std::string& piece) const;

    std::shared_ptr<const PieceModel> model_;
    TokenNames names_;
    std::int32_t unknown_;
    std::vector<std::string> bytes_;  // by token
};

/// Tokenizers of a model's sources and targets, and the files from which both are read.
struct MarianTokenizers {
    std::shared_ptr<const MarianTokenizer> source, target;
    std::filesystem::path vocabulary, target_vocabulary;  // the files that messages name
    std::map<std::string, std::string> files;             // contents by name
};

/// Reads source.spm, target.spm and vocab.json of a directory, tokenizer_config.json and special_tokens_map.json if
/// they are there and, if tokenizer_config.json has "separate_vocabs", target_vocab.json, which has the numbers of the
/// target's pieces. Nothing if the directory has neither model.
///
/// Throws: InputError naming the file that is missing or malformed, two pieces that have one number, a special token
/// that a vocabulary lacks, or a model that has hardly a piece in common with its vocabulary.
std::optional<MarianTokenizers> find_marian_tokenizers(const std::filesystem::path& directory);

/// The names of all files that these tokenizers are read from.
std::vector<std::string_view> marian_tokenizer_files();

}  // namespace vkf
