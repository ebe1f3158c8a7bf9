#include "models/tokenizers/text_decoder.h"

#include <gtest/gtest.h>

#include "base/text/utf8.h"
#include "tests/tokenizers/random_text.h"

namespace vkf {
namespace {

// A vocabulary of the 256 bytes, and a token that begins texts.
class Bytes final : public Tokenizer {
public:
    explicit Bytes(bool space = false, bool last_space = false)
        : Tokenizer({{{"<s>", 256}}, 256, {}}), space_(space), last_space_(last_space) {}
    std::size_t size() const override { return 257; }
    std::string bytes(std::int32_t token) const override {
        return index_of(token) == 256 ? "<s>" : std::string(1, static_cast<char>(token));
    }
    bool prepends_space() const override { return space_; }
    bool appends_space() const override { return last_space_; }
    std::unique_ptr<TextEncoder> text_encoder() const override { return nullptr; }

private:
    bool space_, last_space_;
};

Tokens tokens_of(std::string_view bytes) {
    Tokens tokens;
    for (const char byte : bytes) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
}

std::string decoded(const Tokenizer& tokenizer, const Tokens& tokens) {
    TextDecoder decoder(tokenizer);
    std::string text;
    for (const std::int32_t token : tokens) {
        const std::string more = decoder.feed(token);
        EXPECT_FALSE(invalid_utf8(more));
        text += more;
    }
    return text + decoder.finish();
}

TEST(HostTextDecoder, ACharacterComesWhole) {
    const Bytes bytes;
    TextDecoder decoder(bytes);
    const std::string text = "a\u00e9\u20ac\U0001f600";
    std::vector<std::string> parts;
    for (const std::int32_t token : tokens_of(text)) parts.push_back(decoder.feed(token));
    const std::vector<std::string> wanted{"a", "", "\u00e9", "", "", "\u20ac", "", "", "", "\U0001f600"};
    EXPECT_EQ(parts, wanted);
    EXPECT_EQ(decoder.finish(), "");
    test::RandomText random;
    for (int i = 0; i < 200; ++i) {
        const std::string any = random.next();
        EXPECT_EQ(decoded(bytes, tokens_of(any)), any);
    }
}

TEST(HostTextDecoder, BytesThatAreNoCharacterAreReplaced) {
    const std::pair<std::string, std::string> cases[] = {
        {"a\xff"
         "b",
         "a\ufffd"
         "b"},
        {"\x80\x80", "\ufffd\ufffd"},
        {"\xc3", "\ufffd"},
        {"\xe2\x82", "\ufffd"},  // cut short: one sign for the bytes that are there
        {"\xe2\x82z", "\ufffdz"},
        {"\xf0\x9f\x98\xe2\x82\xac", "\ufffd\u20ac"},
        {"\xe0\x80\x80", "\ufffd\ufffd\ufffd"},  // overlong
        {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},  // a surrogate
        {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
        {"\xc0\xaf", "\ufffd\ufffd"},
    };
    for (const auto& [bytes, text] : cases) EXPECT_EQ(decoded(Bytes(), tokens_of(bytes)), text) << text;
}

TEST(HostTextDecoder, WhatBeginsTextsIsNoPartOfThem) {
    EXPECT_EQ(decoded(Bytes(true), tokens_of(" a b")), "a b");
    EXPECT_EQ(decoded(Bytes(true), {256, ' ', 'a', 256, ' '}), "a<s> ");
    EXPECT_EQ(decoded(Bytes(false), {256, ' ', 'a'}), " a");
    const Bytes bytes(true);
    TextDecoder decoder(bytes);
    for (int texts = 0; texts < 2; ++texts) {
        EXPECT_EQ(decoder.feed(' '), "");
        EXPECT_EQ(decoder.feed('x'), "x");
        EXPECT_EQ(decoder.finish(), "");
    }
}

TEST(HostTextDecoder, ASpaceThatEndsTextsWaitsForMoreText) {
    const Bytes bytes(false, true);
    TextDecoder decoder(bytes);
    for (int texts = 0; texts < 2; ++texts) {
        EXPECT_EQ(decoder.feed('a'), "a");
        EXPECT_EQ(decoder.feed(' '), "");
        EXPECT_EQ(decoder.feed('b'), " b");
        EXPECT_EQ(decoder.feed(' '), "");
        EXPECT_EQ(decoder.finish(), "");
    }
    for (const auto& [all, text] : {std::pair("a  ", "a "), {" ", ""}, {"", ""}, {" a\xff ", " a\ufffd"}}) {
        EXPECT_EQ(decoded(bytes, tokens_of(all)), text);
        if (!invalid_utf8(all)) {
            EXPECT_EQ(bytes.decode(tokens_of(all)), text);
        }
    }
}

}  // namespace
}  // namespace vkf
