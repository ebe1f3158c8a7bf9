// SentencePiece's tokenizer.model, read with its library.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/tokenizers/token_settings.h"
#include "models/tokenizers/tokenizer.h"
#include "models/tokenizers/tokenizer_json/pre_tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace vkf {

/// Cuts texts before spaces if no piece of the vocabulary extends across one, and looks words up before it asks the
/// library for them. Control and unknown pieces are special tokens.
class SentencePiece final : public Tokenizer {
public:
    /// The model's bos piece begins texts unless the settings say otherwise; tokens of the settings may follow the
    /// model's pieces.
    /// Throws: InputError naming the file if it is no model, or if the model changes texts by more than an additional
    /// space at their beginning: by normal forms, or by leaving out white space.
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
