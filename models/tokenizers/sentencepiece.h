// SentencePiece's tokenizer.model, by its library.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/tokenizers/pre_tokenizer.h"
#include "models/tokenizers/token_settings.h"
#include "models/tokenizers/tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace vkf {

/// Texts are cut before spaces where no piece of the vocabulary reaches across one, and words are looked up before the
/// library is asked for them. Control and unknown pieces are special tokens.
class SentencePiece final : public Tokenizer {
public:
    /// Its own bos piece begins texts unless the settings say otherwise, whose tokens may follow the model's pieces.
    /// Throws: InputError naming the file, if it is no model or if the model changes its texts other than by a space
    /// more at their beginning: by normal forms, or by leaving out white space.
    static std::unique_ptr<SentencePiece> load(const std::filesystem::path& path, const TokenSettings& settings = {});

    std::size_t size() const override { return bytes_.size(); }
    std::string bytes(std::int32_t token) const override;
    std::unique_ptr<TextEncoder> text_encoder() const override;
    bool prepends_space() const override { return prepends_space_; }
    const char* unit() const override { return "pieces"; }

private:
    using Processor = std::shared_ptr<const sentencepiece::SentencePieceProcessor>;
    SentencePiece(Processor processor, Added added, std::vector<std::string> bytes);
    friend class SentencePieceEncoder;

    Processor processor_;
    std::vector<std::string> bytes_;  // by token
    std::vector<Split> splits_;
    bool prepends_space_;
};

}  // namespace vkf
