// BLEU (Papineni, Roukos, Ward, Zhu: "BLEU: a Method for Automatic Evaluation of Machine Translation", 2002): how many
// sequences of one to four words translations share with references.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vkf {

inline constexpr std::size_t BLEU_ORDERS = 4;  // longest sequence of words

struct BleuScore {
    double score = 0;                              // 0 … 100
    std::array<double, BLEU_ORDERS> precisions{};  // percent of the translations' sequences that references have
    double brevity = 0;                            // penalty for translations shorter than references, 0 … 1
    std::int64_t words = 0, reference_words = 0;
};

/// Score of a corpus, as sacrebleu 2 computes it by default: words_13a(), exponential smoothing. A sequence counts as
/// often as the reference that has it most often. Of several references of a line, the one whose length is closest to
/// the translation's counts for the brevity penalty, and of two as close the shorter one.
class Bleu {
public:
    /// Adds a line, with at least one reference. All are UTF-8.
    void add(std::string_view translation, std::span<const std::string> references);

    BleuScore score() const;

private:
    std::array<std::int64_t, BLEU_ORDERS> shared_{}, made_{};
    std::int64_t words_ = 0, reference_words_ = 0;
};

}  // namespace vkf
