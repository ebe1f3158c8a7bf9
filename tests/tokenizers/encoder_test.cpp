#include "models/tokenizers/encoder.h"

#include "models/data/text/text.h"
#include "models/tokenizers/bpe/bpe.h"
#include "tests/scratch.h"
#include "tests/tokenizers/random_text.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;

// A model with all bytes, "ab", "abc" and " a", and added tokens.
BpeModel small_model() {
    BpeModel model;
    for (int byte = 0; byte < 256; ++byte) {
        model.byte_tokens[static_cast<std::size_t>(byte)] = byte;
        model.tokens.emplace_back(1, static_cast<char>(byte));
    }
    model.merges = {{'a', 'b', 256}, {256, 'c', 257}, {' ', 'a', 258}};
    for (const char* joined : {"ab", "abc", " a", "<|end|>", "<|end|>x", "::"}) model.tokens.emplace_back(joined);
    model.added = {{"<|end|>", 259}, {"<|end|>x", 260}, {"::", 261, false}};
    model.hidden = {259, 260, 261};
    model.splits.push_back({Pattern(GPT2_PATTERN, "pattern")});
    return model;
}

Tokens in_portions(const Tokenizer& tokenizer, std::string_view text, std::size_t portion, SpecialNames names) {
    Tokens tokens;
    Encoder encoder(tokenizer, names);
    for (; !text.empty(); text.remove_prefix(std::min(portion, text.size()))) {
        encoder.feed(text.substr(0, portion), tokens);
    }
    encoder.finish(tokens);
    return tokens;
}

TEST(HostEncoder, AddedTokensAreFoundBeforeWords) {
    const BpeTokenizer tokenizer(small_model());
    EXPECT_EQ(tokenizer.encode("abc ab"), (Tokens{257, ' ', 256}));
    EXPECT_EQ(tokenizer.encode("ab<|end|>c", SpecialNames::tokens), (Tokens{256, 259, 'c'}));
    EXPECT_EQ(tokenizer.encode("<|end|>x<|end|>", SpecialNames::tokens), (Tokens{260, 259}));  // the longest token
    EXPECT_EQ(tokenizer.encode("a::b"), (Tokens{'a', 261, 'b'}));  // not special: found everywhere
    EXPECT_EQ(tokenizer.encode("<|end|>").size(), 7u);             // special: found only on request
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("a<|end|>::", SpecialNames::tokens)), "a<|end|>::");
    EXPECT_EQ(tokenizer.added_token("<|end|>x"), 260);
    EXPECT_EQ(tokenizer.added_token("<|END|>"), std::nullopt);
    EXPECT_TRUE(tokenizer.encode("").empty());
}

// Finds by a search over all tokens: the longest token at a place, unless more text may still make a longer one.
AddedTokenFinder::Found found_by_a_look_at_each(const std::vector<AddedToken>& added, std::string_view text,
                                                bool more) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view rest = text.substr(at);
        const AddedToken* longest = nullptr;
        bool may_come = false;
        for (const AddedToken& token : added) {
            const bool longer = !longest || token.text.size() > longest->text.size();
            if (rest.starts_with(token.text) && longer) longest = &token;
            if (more && token.text.size() > rest.size() && token.text.starts_with(rest)) may_come = true;
        }
        if (may_come) return {at, nullptr};
        if (longest) return {at, longest};
    }
    return {text.size(), nullptr};
}

TEST(HostEncoder, OfManyAddedTokensTheLeftmostAndLongestIsFound) {
    std::vector<AddedToken> added;
    std::uint32_t state = 1;
    const auto letters = [&](std::size_t most) {
        std::string word;
        for (std::size_t n = 1 + (state >> 8) % most; n > 0; --n)
            word += "ab\xc3"[(state = state * 1664525 + 1013904223) >> 16 & 1 ? 0 : (state >> 20) % 3];
        return word;
    };
    for (int i = 0; i < 60; ++i) added.push_back({letters(7) + (i % 3 ? "" : "::"), i, false});
    const AddedTokenFinder finder(added, SpecialNames::tokens);
    for (int i = 0; i < 3000; ++i) {
        const std::string text = (i % 2 ? ":" : "") + letters(9) + (i % 5 ? "" : ":");
        for (const bool more : {false, true}) {
            const auto found = finder.find(text, 0, more), wanted = found_by_a_look_at_each(added, text, more);
            ASSERT_EQ(found.at, wanted.at) << text << more;
            ASSERT_EQ(!found.added, !wanted.added) << text << more;
            ASSERT_TRUE(!found.added || found.added->text == wanted.added->text) << text << more;
        }
    }
}

TEST(HostEncoder, PortionsMakeNoDifference) {
    const BpeTokenizer tokenizer(small_model());
    test::RandomText random;
    std::string text = "<|end|>abc <|end|<|end|>x  \r\n\n 'll ab";
    while (text.size() < 4096) text += random.next() + (text.size() % 3 ? "<|end|>" : "<|en:::");
    for (const SpecialNames names : {SpecialNames::text, SpecialNames::tokens}) {
        const Tokens whole = tokenizer.encode(text, names);
        EXPECT_EQ(tokenizer.decode(whole), text);
        for (const std::size_t portion : {1, 2, 3, 7, 100}) {
            EXPECT_EQ(in_portions(tokenizer, text, portion, names), whole) << portion;
        }
    }
    // Longer than the text that is cut into words at once, with words that end on either side of that limit, and one
    // that exceeds it.
    std::string longer = std::string(200'000, 'a') + " ";
    while (longer.size() < 500'000) longer += text;
    const Tokens whole = tokenizer.encode(longer);
    EXPECT_EQ(in_portions(tokenizer, longer, 70'001, SpecialNames::text), whole);
    EXPECT_EQ(in_portions(tokenizer, longer, 13, SpecialNames::text), whole);
    EXPECT_EQ(tokenizer.decode(whole), longer);
}

TEST(HostEncoder, TokensComeWhileTheTextGoesOn) {
    const BpeTokenizer tokenizer(small_model());
    Encoder encoder(tokenizer);
    Tokens tokens;
    std::size_t fed = 0;
    for (; fed < 1'000'000; fed += 8) encoder.feed("abc abab", tokens);
    std::size_t bytes = 0;
    for (const std::int32_t token : tokens) bytes += tokenizer.bytes(token).size();
    EXPECT_LE(fed - bytes, 1u << 17);  // all but the part in memory
    encoder.finish(tokens);
    encoder.feed("ab", tokens);  // another text
    encoder.finish(tokens);
    EXPECT_EQ(tokens.back(), 256);
}

TEST(HostEncoder, WhatIsNotUtf8IsNamedByItsByte) {
    const BpeTokenizer tokenizer(small_model());
    expect_holds(complaint([&] { tokenizer.encode("ab\xff"); }), "text is not UTF-8 at byte 2");
    expect_holds(complaint([&] { tokenizer.encode("ab\xe2\x82"); }), "text is not UTF-8 at byte 2");
    expect_holds(
        complaint([&] { in_portions(tokenizer, std::string(99'999, 'x') + "\xc3(", 1000, SpecialNames::text); }),
        "text is not UTF-8 at byte 99999");
    expect_holds(complaint([&] { in_portions(tokenizer, "a\xc3\xa9\xe2", 1, SpecialNames::text); }), "at byte 3");
    for (const std::int32_t bad : {-1, 262}) {
        expect_holds(complaint([&] { tokenizer.bytes(bad); }),
                     text("token ", bad, " is not among the vocabulary's 262"));
    }
}

TEST(HostEncoder, CharactersAreATokenizer) {
    const Characters characters = Characters::of("ab\u20ac");
    const Tokenizer& tokenizer = characters;
    EXPECT_EQ(in_portions(tokenizer, "b\u20aca", 1, SpecialNames::text), (Tokens{1, 2, 0}));
    EXPECT_EQ(tokenizer.bytes(2), "\u20ac");
    expect_holds(complaint([&] { in_portions(tokenizer, "ab\u20acz", 2, SpecialNames::text); }),
                 "'z' (U+007A) at position 3");
    EXPECT_EQ(tokenizer.end_of_text(), std::nullopt);
}

}  // namespace
}  // namespace vkf
