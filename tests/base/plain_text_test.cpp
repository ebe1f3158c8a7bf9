#include "base/text/plain_text.h"

#include <gtest/gtest.h>

#include "base/text/utf8.h"

namespace vkf {
namespace {

TEST(HostPlainText, OrdinaryCharactersLineEndsAndTabsStay) {
    for (const std::string text : {"", "a b\tc\nd\n", "größe 語 \U0001f600 \u00a0~"}) EXPECT_EQ(plain_text(text), text);
}

TEST(HostPlainText, WhatSteersTerminalsIsReplaced) {
    const auto of = [](char32_t c) {
        std::string text = "a";
        append_utf8(text, c);
        return plain_text(text + "b");
    };
    for (char32_t c = 0; c < 0x20; ++c) {
        const bool stays = c == '\t' || c == '\n';
        EXPECT_EQ(of(c) == "a\ufffdb", !stays) << static_cast<unsigned>(c);
    }
    for (char32_t c = 0x7f; c < 0xa0; ++c) EXPECT_EQ(of(c), "a\ufffdb") << static_cast<unsigned>(c);
    for (char32_t c = 0x202a; c <= 0x202e; ++c) EXPECT_EQ(of(c), "a\ufffdb") << static_cast<unsigned>(c);
    for (char32_t c = 0x2066; c <= 0x2069; ++c) EXPECT_EQ(of(c), "a\ufffdb") << static_cast<unsigned>(c);
    EXPECT_EQ(plain_text("\x1b[2J\x1b]0;title\x07"), "\ufffd[2J\ufffd]0;title\ufffd");
}

TEST(HostPlainText, EveryByteThatIsNoCharacterIsReplacedOnce) {
    EXPECT_EQ(plain_text("a\xff\xc3(\x9b"), "a\ufffd\ufffd(\ufffd");
}

TEST(HostPlainText, ALineIsOneLine) {
    EXPECT_EQ(plain_line("a\nb\tc\rd"), "a b c\ufffdd");
}

TEST(HostPlainText, OfALongLineBeginningAndEndStay) {
    const std::string line = plain_line("begin" + std::string(20'000'000, 'x') + "end", 100);
    EXPECT_TRUE(line.starts_with("beginxxx")) << line;
    EXPECT_TRUE(line.ends_with("xxxend")) << line;
    EXPECT_NE(line.find("… (19999908 more) …"), std::string::npos) << line;
    EXPECT_EQ(plain_line(std::string(100, 'x'), 100).size(), 100u);
}

TEST(HostPlainText, ALongLineIsCutBetweenCharacters) {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "語";
    for (std::size_t most = 20; most < 40; ++most)
        EXPECT_EQ(invalid_utf8(plain_line(text, most)), std::nullopt) << most;
}

TEST(HostPlainText, AMessageIsOneLineOfStandardError) {
    testing::internal::CaptureStderr();
    tell("a\nb\x1b[0m" + std::string(5000, 'c'));
    const std::string seen = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(seen.starts_with("a b\ufffd[0mccc")) << seen;
    EXPECT_EQ(seen.find('\n'), seen.size() - 1);
    EXPECT_LT(seen.size(), 2100u);
}

}  // namespace
}  // namespace vkf
