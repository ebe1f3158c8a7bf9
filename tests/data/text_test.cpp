#include "models/data/text/text.h"

#include "base/files/file.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::complaint;
using test::expect_holds;
using test::Scratch;

TEST(HostText, LineEndsAreUnified) {
    const Scratch scratch;
    EXPECT_EQ(read_corpus(scratch.file("x", "a\r\nb\rc\n\r\n\r")), "a\nb\nc\n\n\n");
    EXPECT_EQ(read_corpus(scratch.file("x", "\u00e9 as it is")), "\u00e9 as it is");
}

TEST(HostText, ADirectoryIsItsTextsInOrder) {
    const Scratch scratch;
    scratch.file("c.txt", "third");
    scratch.file("a/z.txt", "first\r\n");
    scratch.file("b.md", "second\n");
    scratch.file("empty.txt", "");
    scratch.file("image.png", std::string("\x89PNG\0\xff", 6));
    scratch.file(".git/config", "hidden");
    scratch.file(".hidden", "hidden");
    EXPECT_EQ(read_corpus(scratch.path()), "first\nsecond\nthird\n");
}

TEST(HostText, WhatIsNoTextIsRefused) {
    const Scratch scratch;
    const fs::path bad = scratch.file("texts/bad.txt", "ab\xff");
    for (const fs::path& path : {bad, bad.parent_path()}) {
        const auto message = complaint([&] { read_corpus(path); });
        expect_holds(message, bad.string());
        expect_holds(message, "not UTF-8 at byte 2");
    }
    expect_holds(complaint([&] { read_corpus(scratch.file("none/x", "").parent_path()); }), "holds no text files");
    expect_holds(complaint([&] { read_corpus(scratch.file("empty", "")); }), "is empty");
    expect_holds(complaint([&] { read_corpus(scratch.path() / "missing"); }), "No such file");
}

TEST(HostText, TheSplitIsNanoGptsAndCountsCharacters) {
    // int(n * 0.9) in Python; 0.9 is slightly more than nine tenths, so multiples of ten give exact shares
    const std::size_t shares[][2] = {{0, 0}, {1, 0}, {2, 1}, {9, 8}, {10, 9}, {11, 9}, {1115394, 1003854}};
    for (const auto& [n, share] : shares) EXPECT_EQ(training_share(n), share) << n;
    const std::string text = "\u00e9\u00e9\u00e9\u00e9\u00e9abcd\u20ac\u20ac";  // 11 characters
    const auto [train, val] = split_text(text);
    EXPECT_EQ(train, "\u00e9\u00e9\u00e9\u00e9\u00e9abcd");
    EXPECT_EQ(val, "\u20ac\u20ac");
    EXPECT_EQ(split_text("").first, "");
    EXPECT_EQ(split_text("x").second, "x");
}

TEST(HostText, CharactersAreTokensInCodePointOrder) {
    const std::string text = "b\u20aca\U0001f600\nb";
    const Characters characters = Characters::of(text);
    EXPECT_EQ(characters.size(), 5u);
    const auto tokens = characters.encode(text);
    EXPECT_EQ(tokens, (std::vector<std::int32_t>{2, 3, 1, 4, 0, 2}));
    EXPECT_EQ(characters.tokens_of("ab"), TokenList(std::vector<std::uint16_t>{1, 2}));
    EXPECT_EQ(characters.decode(tokens), text);
    EXPECT_TRUE(characters.encode("").empty());
}

TEST(HostText, UnknownCharactersAndTokensAreNamed) {
    const Characters characters = Characters::of("ab");
    expect_holds(complaint([&] { characters.encode("ab\u00e9"); }),
                 "character '\u00e9' (U+00E9) at position 2 is not among the vocabulary's 2");
    expect_holds(complaint([&] { characters.encode("\n"); }), "character U+000A at position 0");
    expect_holds(complaint([&] { characters.encode("\U0010ffff"); }), "U+10FFFF");
    expect_holds(complaint([&] { characters.encode("a\xff"); }), "not UTF-8 at byte 1");
    for (const std::int32_t bad : {2, -1}) {
        const auto message = complaint([&] { characters.decode(std::vector{bad}); });
        expect_holds(message, text("token ", bad, " is not"));
    }
}

TEST(HostText, CharactersSurviveTheirFile) {
    const Scratch scratch;
    const std::string text = "\0\n\"\\\x7f\u00e9\ufeff\uffff\U0001f600"s;
    const Characters characters = Characters::of(text);
    const Characters loaded = Characters::load(scratch.file("chars.json", characters.json()));
    EXPECT_EQ(loaded.size(), characters.size());
    EXPECT_EQ(loaded.decode(characters.encode(text)), text);
    EXPECT_EQ(Characters::of("ba\n").json(), "{\"type\":\"chars\",\"chars\":[\"\\n\",\"a\",\"b\"]}\n");
}

TEST(HostText, VocabulariesNameTheirFirstDifference) {
    const auto difference = [](const char* mine, const char* wanted) {
        return Characters::of(mine).difference(Characters::of(wanted));
    };
    EXPECT_EQ(difference("cab", "abc"), "");
    EXPECT_EQ(difference("abd", "abc"), "token 2 is 'd' (U+0064), wanted 'c' (U+0063)");
    EXPECT_EQ(difference("ab", "a\nb"), "token 0 is 'a' (U+0061), wanted U+000A");
    EXPECT_EQ(difference("ab", "abc"), "token 2 is missing, wanted 'c' (U+0063)");
    EXPECT_EQ(difference("abc", "ab"), "token 2 is 'c' (U+0063), wanted none");
}

TEST(HostText, MalformedVocabulariesAreRefused) {
    struct Case {
        const char* reason;
        const char* json;
    };
    const Case cases[] = {
        {"not JSON", "{"},
        {"not JSON", "{\"type\":\"chars\",\"chars\":[\"\xff\"]}"},
        {"\"chars\" twice", "{\"type\":\"chars\",\"chars\":[\"a\"],\"chars\":[\"b\"]}"},
        {"\"type\": \"chars\"", "[]"},
        {"\"type\": \"chars\"", "{}"},
        {"\"type\": \"chars\"", "{\"type\":\"bpe\",\"chars\":[\"a\"]}"},
        {"must be a list", "{\"type\":\"chars\"}"},
        {"must be a list", "{\"type\":\"chars\",\"chars\":[]}"},
        {"must be a list", "{\"type\":\"chars\",\"chars\":\"abc\"}"},
        {"chars[1]: wanted a string", "{\"type\":\"chars\",\"chars\":[\"a\",1]}"},
        {"chars[0]: wanted one character", "{\"type\":\"chars\",\"chars\":[\"\"]}"},
        {"chars[0]: wanted one character", "{\"type\":\"chars\",\"chars\":[\"ab\"]}"},
        {"chars[1]: 'a' (U+0061) does not follow", "{\"type\":\"chars\",\"chars\":[\"a\",\"a\"]}"},
        {"chars[1]: 'a' (U+0061) does not follow", "{\"type\":\"chars\",\"chars\":[\"b\",\"a\"]}"},
    };
    const Scratch scratch;
    for (const Case& bad : cases) {
        const fs::path path = scratch.file("chars.json", bad.json);
        const auto message = complaint([&] { Characters::load(path); });
        expect_holds(message, path.string());
        expect_holds(message, bad.reason);
    }
}

}  // namespace
}  // namespace vkf
