#include "models/tokenizers/tokenizer_json/pre_tokenizer.h"

#include "tests/scratch.h"
#include "tests/tokenizers/random_text.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using Words = std::vector<std::string>;

Pattern pattern(std::string_view expression) {
    return Pattern(expression, "pattern");
}

Words words(const std::vector<Split>& splits, std::string_view text) {
    Words words;
    PreTokenizer(splits).cut(text, false, [&](std::string_view word) { words.emplace_back(word); });
    return words;
}

// Cuts text that is given byte by byte: undecided text is given again with the next byte.
Words words_byte_by_byte(const std::vector<Split>& splits, std::string_view text) {
    Words words;
    const PreTokenizer pre_tokenizer(splits);
    const auto keep = [&](std::string_view word) { words.emplace_back(word); };
    std::size_t from = 0;
    for (std::size_t to = 0; to <= text.size(); ++to) {
        const bool inside = to < text.size() && (static_cast<unsigned char>(text[to]) & 0xc0u) == 0x80u;
        if (!inside) from += pre_tokenizer.cut(text.substr(from, to - from), to < text.size(), keep);
    }
    EXPECT_EQ(from, text.size());
    return words;
}

TEST(HostPreTokenizer, CutsAsGpt2Does) {
    const std::vector<Split> gpt2{{pattern(GPT2_PATTERN)}};
    EXPECT_EQ(words(gpt2, "I'll  say 42 (twice)!\n\n\tOK "),
              (Words{"I", "'ll", " ", " say", " 42", " (", "twice", ")!", "\n\n", "\t", "OK", " "}));
    EXPECT_TRUE(words(gpt2, "").empty());
}

TEST(HostPreTokenizer, WhiteSpaceIsUnicodes) {
    for (const char32_t space : {0x9, 0xb, 0xd, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2028, 0x202f, 0x205f, 0x3000}) {
        std::string text = "a";
        append_utf8(text, space);
        EXPECT_EQ(words({{pattern("\\s")}}, text).size(), 2u) << std::hex << static_cast<unsigned>(space);
        EXPECT_EQ(words({{pattern("[\\s.]")}}, text).size(), 2u);
        EXPECT_EQ(words({{pattern("\\S"), true}}, text), (Words{"a"}));
    }
    for (const char32_t other : {0x1c, 0x180e, 0x200b, 0x2060, 0xfeff}) {
        std::string text;
        append_utf8(text, other);
        EXPECT_EQ(words({{pattern("\\S"), true}}, text), (Words{text})) << std::hex << static_cast<unsigned>(other);
        EXPECT_EQ(words({{pattern("[^\\s]"), true}}, text), (Words{text}));
    }
}

TEST(HostPreTokenizer, SplitsCutTheWordsOfTheOneBefore) {
    const Split digits{pattern("\\p{N}")};
    // The second split reads each word as a whole text: two spaces before a digit stay together.
    EXPECT_EQ(words({digits, {pattern(GPT2_PATTERN)}}, "a  12 b"), (Words{"a", "  ", "1", "2", " b"}));
    EXPECT_EQ(words({{pattern(GPT2_PATTERN)}, digits}, "a  12 b"), (Words{"a", " ", " ", "1", "2", " b"}));
    EXPECT_EQ(words({{pattern("[a-z]+"), true}}, "ab, cd; 1"), (Words{"ab", "cd"}));
    EXPECT_EQ(words({{Pattern(".+", "literal", true)}}, "ab.+c"), (Words{"ab", ".+", "c"}));
    EXPECT_EQ(words({}, "a b"), (Words{"a b"}));
}

TEST(HostPreTokenizer, PortionsMakeNoDifference) {
    const Split digits{pattern("\\p{N}+")}, gpt2{pattern(GPT2_PATTERN)}, marks{pattern("x[^x]*x"), true};
    test::RandomText random;
    for (int i = 0; i < 300; ++i) {
        const std::string text = random.next() + " x'll  \n\n " + random.next() + "12  x";
        for (const std::vector<Split>& splits :
             {std::vector{gpt2}, {digits, gpt2}, {gpt2, digits}, {marks, gpt2}, {digits, digits}, {}}) {
            ASSERT_EQ(words_byte_by_byte(splits, text), words(splits, text)) << text;
        }
    }
}

TEST(HostPreTokenizer, PatternsThatCannotBeHadAreRefused) {
    expect_holds(complaint([] { pattern("a(b"); }), "pattern: 'a(b': missing closing parenthesis");
    expect_holds(complaint([] { pattern("(?<=a)b"); }), "looks behind, which is not supported");
    expect_holds(complaint([] { pattern("\\bword"); }), "not supported");
    expect_holds(complaint([] { pattern("[\\S]"); }), "\\S inside […] is not supported");
    expect_holds(complaint([] { pattern("[a-z&&[^b]]"); }), "is not supported");
    expect_holds(complaint([] { pattern("\\h"); }), "'\\h' is not supported");
    expect_holds(complaint([] { pattern(""); }), "is empty");
}

}  // namespace
}  // namespace vkf
