// Byte-pair codes of subword-nmt (Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with
// Subword Units"): a file of merges, from which the whole tokenizer follows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/bpe/merges.h"
#include "models/tokenizers/tokenizer.h"
#include "models/tokenizers/vocabulary.h"

namespace vkf {

/// The contents of a codes file. A line merges two symbols, best pair first. A symbol is a string of characters inside
/// a word, or one that ends a word, which has the suffix </w>. In version 0.2 (first line "#version: 0.2") a word
/// begins as its characters, of which the last ends the word. In version 0.1, which has no such line, </w> is a symbol
/// of its own behind the last character; where no merge joins it, the symbol before it ends the word.
///
/// The vocabulary is <s>, <pad>, </s> and <unk> (fairseq's order), and then, line by line, the left part, the right
/// part and the result of the merge, each when it appears for the first time. A single character adds both of its
/// forms, first the one inside a word; in version 0.1 every symbol does. So every segmentation has tokens, except for
/// characters that the codes do not contain.
struct SubwordCodes {
    std::vector<std::string> tokens;  // a symbol's text, with a space behind it if it ends a word
    std::vector<Merge> merges;        // by rank
    /// Version 0.1: the number of </w> in `merges`, which is no token.
    std::optional<std::int32_t> word_end;

    /// Throws: InputError naming the file and the line that is not UTF-8, has not two symbols, merges a pair again, or
    /// has a part that no word can have: neither a character nor the result of an earlier line, or a left part that
    /// ends words. Also if there are no merges, or if the version is another.
    static SubwordCodes read(const std::filesystem::path& path);
};

/// Divides texts into words at spaces and line ends, any number of which count as one space, and words into symbols by
/// merging pairs of neighbours in rounds. A character without a token becomes <unk>. Decoding puts one space between
/// words. subword-nmt writes the same symbols with the suffix @@ where they do not end a word.
/// A word of n characters takes n log n steps.
class SubwordNmt final : public Tokenizer {
public:
    explicit SubwordNmt(SubwordCodes codes);

    std::size_t size() const override { return vocabulary_.size(); }
    std::string bytes(std::int32_t token) const override;
    std::unique_ptr<TextEncoder> text_encoder() const override;
    bool appends_space() const override { return true; }

private:
    friend class SubwordEncoder;
    /// Appends the symbols with which a word begins, before merges.
    void initial_symbols(std::string_view word, Tokens& symbols) const;
    /// Makes the last symbol of a merged word one that ends it.
    void end_word(Tokens& symbols) const;

    Vocabulary vocabulary_;
    MergeTable merges_;
    std::optional<std::int32_t> word_end_;
};

}  // namespace vkf
