// SentencePiece models that rewrite texts: their rules, compared with those of the library.

#include "models/tokenizers/sentencepiece/piece_model.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "models/tokenizers/sentencepiece/charsmap.h"
#include "tests/scratch.h"
#include "tests/tokenizers/charsmap_builder.h"
#include "tests/tokenizers/random_text.h"

namespace vkf::test {
namespace {

using sentencepiece::SentencePieceProcessor;

/// Sentences of made-up words, from which models are trained.
class MadeUpSentences final : public sentencepiece::SentenceIterator {
public:
    MadeUpSentences() { Next(); }
    bool done() const override { return left_ == 0; }
    void Next() override {
        --left_;
        sentence_.clear();
        for (int word = 0; word < 7; ++word) {
            if (word > 0) sentence_ += ' ';
            const std::uint64_t letters = 1 + random_.below(6);
            for (std::uint64_t i = 0; i < letters; ++i) sentence_ += static_cast<char>('a' + random_.below(9));
        }
    }
    const std::string& value() const override { return sentence_; }
    sentencepiece::util::Status status() const override { return {}; }

private:
    Random random_{3, "sentences"};
    int left_ = 401;
    std::string sentence_;
};

std::string trained(const std::string& options) {
    // Models with pieces for all bytes need room for them.
    const bool bytes = options.find("byte_fallback") != options.npos;
    MadeUpSentences sentences;
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        text("--model_type=unigram --hard_vocab_limit=false --num_threads=1 --minloglevel=2 --vocab_size=",
             bytes ? 400 : 60, ' ', options),
        &sentences, &model);
    if (!status.ok()) throw Error(status.ToString());
    return model;
}

/// Cuts texts by both readers. The library's own may read only models that it has made itself.
void expect_equal_pieces(const std::string& content, const std::vector<std::string>& texts) {
    const PieceModel model(content, "source.spm");
    SentencePieceProcessor processor;
    ASSERT_TRUE(processor.LoadFromSerializedProto(content).ok());
    for (const std::string& text : texts) {
        std::vector<std::string> wanted;
        ASSERT_TRUE(processor.Encode(text, &wanted).ok());
        ASSERT_EQ(model.cut(text), wanted) << text;
    }
}

/// Random strings, some of them with spaces, symbols or bytes that are no UTF-8 among the characters.
std::vector<std::string> texts(std::size_t count) {
    std::vector<std::string> list{"",
                                  " ",
                                  "   ",
                                  "\u3000",
                                  "\u3000 a",
                                  "a \u00a0 b ",
                                  "\ufb01\ufb02",
                                  "\u00a8",
                                  "a\u00a8",
                                  "\u200b",
                                  "\u200b a\u200b",
                                  "e\u0301\u0323",
                                  "\uff21\uff22\u3000\uff23",
                                  "\u2460\u00bd\ufdfa",
                                  "\x07tab\tnew\nline\r\n",
                                  std::string("zero\0byte", 9),
                                  "\xff\xfe",
                                  "cut \xe2\x82",
                                  "<se\uff50>a<se<se\uff50>"};
    RandomText random;
    Random dice(7, "texts");
    while (list.size() < count) {
        std::string text = random.next();
        for (const char* extra : {" ", "  ", "<se\uff50>", "<se", "\u3000", "\xff", "\xe2\x82"})
            if (dice.below(6) == 0) text.insert(dice.below(text.size() + 1), extra);
        list.push_back(std::move(text));
    }
    return list;
}

TEST(HostPieceModel, RulesOfNfkcGiveTheLibrarysPieces) {
    expect_equal_pieces(trained("--normalization_rule_name=nmt_nfkc"), texts(6000));
    expect_equal_pieces(trained("--normalization_rule_name=nmt_nfkc_cf"), texts(1000));
}

TEST(HostPieceModel, SymbolsAndSpacesAreTreatedAsByTheLibrary) {
    for (const char* options : {"--normalization_rule_name=nmt_nfkc --user_defined_symbols=<se,<se\uff50>,\ufb01",
                                "--normalization_rule_name=nfkc --remove_extra_whitespaces=false",
                                "--normalization_rule_name=nmt_nfkc --add_dummy_prefix=false --byte_fallback=true",
                                "--normalization_rule_name=identity"})
        expect_equal_pieces(trained(options), texts(1000));
}

TEST(HostPieceModel, PiecesStandForTheirCharacters) {
    const PieceModel model(trained("--normalization_rule_name=nmt_nfkc --byte_fallback=true"), "source.spm");
    EXPECT_EQ(model.bytes("\u2581ab\u2581"), " ab ");
    EXPECT_EQ(model.bytes("<0x41>"), "A");
    EXPECT_EQ(model.bytes("</s>"), "");
    EXPECT_EQ(model.bytes("<0x41"), "<0x41");
    const std::vector<std::string> pieces = model.pieces();
    EXPECT_EQ(std::ranges::count(pieces, "</s>"), 0);
    EXPECT_EQ(std::ranges::count(pieces, "\u2581"), 1);
}

TEST(HostPieceModel, ModelsThatCannotBeReadAreRefused) {
    const std::string model = trained("--normalization_rule_name=nmt_nfkc");
    const auto refusal = [](const std::string& content) {
        return complaint([&] { PieceModel(content, "target.spm"); });
    };
    expect_holds(refusal(""), "target.spm is no SentencePiece model (0 bytes)");
    expect_holds(refusal(model.substr(0, model.size() / 2)), "target.spm is no SentencePiece model");
    expect_holds(refusal(trained("--treat_whitespace_as_suffix=true")), "treat_whitespace_as_suffix is true");
    const std::string denormalizer{"\x2a\x07\x0a\x01x\x12\x02rr", 9};
    expect_holds(refusal(model + denormalizer), "rewrites the text of its pieces by the rules \"x\"");
    const std::string normalizer{"\x1a\x04\x12\x02rr", 6};
    expect_holds(refusal(model + normalizer), "target.spm: precompiled_charsmap: has 2 bytes");
}

TEST(HostCharsmap, TheLongestRuleIsFound) {
    const Charsmap rules(charsmap_of({{"a", "x"}, {"abc", "long"}, {"b", ""}}), "here");
    const auto found = [&](std::string_view text) {
        const Charsmap::Match match = rules.longest_match(text);
        return std::pair(match.bytes, std::string(match.replacement));
    };
    EXPECT_EQ(found("abcd"), std::pair(std::size_t{3}, std::string("long")));
    EXPECT_EQ(found("abd"), std::pair(std::size_t{1}, std::string("x")));
    EXPECT_EQ(found("ba"), std::pair(std::size_t{1}, std::string()));
    EXPECT_EQ(found("c").first, 0u);
    EXPECT_EQ(found("").first, 0u);
    EXPECT_EQ(found(std::string_view("\0", 1)).first, 0u);
    EXPECT_EQ(Charsmap().longest_match("a").bytes, 0u);
}

TEST(HostCharsmap, MalformedRulesAreRefused) {
    const std::string good = charsmap_of({{"a", "x"}});
    const auto refusal = [](const std::string& bytes) { return complaint([&] { Charsmap(bytes, "here"); }); };
    EXPECT_EQ(refusal(good), "");
    expect_holds(refusal(good.substr(0, 3)), "here: has 3 bytes, of which 0 are its trie");
    expect_holds(refusal(std::string("\x03\0\0\0abcd", 8)), "of which 3 are its trie");
    expect_holds(refusal(std::string("\xff\xff\xff\xff"
                                     "abcd",
                                     8)),
                 "of which 4294967295 are its trie");
    expect_holds(refusal(good.substr(0, good.size() - 2)), "wanted units of 4 bytes and replacements behind them");
    expect_holds(refusal(good.substr(0, good.size() - 1)), "its last replacement has no end");
    expect_holds(refusal(charsmap_of({{"a", "\xff"}})), "are not UTF-8 at byte 0");
    expect_holds(refusal(charsmap_of({{"a", std::string(1025, 'x')}})), "a replacement has 1025 bytes, wanted at most");
}

TEST(HostCharsmap, PlacesOutsideOfTheStoredBytesAreNoRule) {
    const auto bytes_matched = [](std::size_t unit, std::uint32_t value) {
        std::string bytes = charsmap_of({{"a", "x"}});
        std::string stored;
        append_u32(stored, value);
        bytes.replace(4 + 4 * unit, 4, stored);
        return Charsmap(bytes, "here").longest_match("aa").bytes;
    };
    // Unit 512 has the place of the replacement "x", of two bytes; unit 256 + 'a' is the node of the rule.
    EXPECT_EQ(bytes_matched(512, 0x8000'0001U), 1u);
    EXPECT_EQ(bytes_matched(512, 0x8000'0002U), 0u);
    EXPECT_EQ(bytes_matched(512, 0xffff'ffffU), 0u);
    EXPECT_EQ(bytes_matched(256 + 'a', 0xffff'fd00U | 'a'), 0u);
    EXPECT_EQ(bytes_matched(0, 0x7fff'fc00U), 0u);
}

/// Random units lead anywhere: a lookup stays within the stored bytes and ends.
TEST(HostCharsmap, UnitsThatLeadOutsideAreNoRule) {
    Random random(11, "units");
    for (int round = 0; round < 2000; ++round) {
        std::string bytes;
        const std::uint64_t units = 1 + random.below(600);
        append_u32(bytes, static_cast<std::uint32_t>(4 * units));
        for (std::uint64_t i = 0; i < units; ++i) {
            // Labels that fit, so that lookups go on, and offsets and ends at random.
            const std::uint64_t near = random.below(2) == 0 ? random.below(1 << 10) : random.below(1U << 21);
            append_u32(bytes, static_cast<std::uint32_t>(i & 0xffU) | static_cast<std::uint32_t>(random.below(4)) << 8 |
                                  static_cast<std::uint32_t>(near) << 10);
        }
        const Charsmap rules(bytes + std::string("ab\0c\0", 5), "here");
        const std::string text(3000, static_cast<char>(random.below(256)));
        const Charsmap::Match match = rules.longest_match(text);
        EXPECT_LE(match.bytes, Charsmap::LONGEST);
        EXPECT_LE(match.replacement.size(), 2u);
    }
}

}  // namespace
}  // namespace vkf::test
