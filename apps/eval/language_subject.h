// Data or a text on which a language model is evaluated, as batches of windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/eval/eval.h"
#include "apps/model.h"
#include "models/data/batches.h"

namespace vkf {

/// Cut of tokens into batches.
struct TokenWindows {
    std::int64_t rows = 0, length = 0, stride = 0, count = 0;

    std::int64_t tokens() const { return rows * length; }
};

/// Bytes of text that each token stands for; 0 for tokens that only separate texts.
std::vector<std::int64_t> bytes_of_tokens(const Tokenizer& tokenizer);

class LanguageSubject {
public:
    /// The split or text that the options name. Throws InputError if the model cannot read it.
    LanguageSubject(const Common& common, const EvalOptions& options, const LanguageModel& model);
    LanguageSubject(const LanguageSubject&) = delete;

    const TokenWindows& windows() const { return windows_; }
    /// Values of the inputs of language_loss in batch `number`: windows drawn at random, or all in their order.
    Batch batch(std::int64_t number) const;
    /// True if hidden words are predicted, not the next.
    bool hides_words() const { return static_cast<bool>(objective_); }
    /// Predicted bytes of a text.
    std::optional<std::int64_t> text_bytes() const { return bytes_; }

private:
    void read_text(const EvalOptions& options, const LanguageModel& model);
    void choose_windows(const EvalOptions& options, const LanguageModel& model);
    Batch window(std::int64_t number) const;

    std::uint64_t seed_;
    std::optional<TokenDataset> data_;  // empty if a text is read
    TokenList text_;
    TokenStream tokens_;
    std::optional<std::int64_t> bytes_;
    TokenWindows windows_;
    Objective objective_;
    std::optional<Batches> random_;
};

}  // namespace vkf
