// Passages of texts: their sizes, splits and characters.

#include "models/data/sequences/passages.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text/utf8.h"

namespace vkf::test {
namespace {

std::string joined(const Passages& passages) {
    std::string all;
    for (const auto* split : {&passages.train, &passages.val, &passages.test})
        for (const std::string_view passage : *split) all += passage;
    return all;
}

TEST(HostPassages, FollowEachOtherInContinuousSplits) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += std::to_string(i) + ' ';
    const Passages found = cut_passages(text, 16, {.val = 0.1, .test = 0.25});
    const std::size_t count = text.size() / 16;
    EXPECT_EQ(found.train.size() + found.val.size() + found.test.size(), count);
    EXPECT_EQ(found.val.size(), count / 10);
    EXPECT_EQ(found.test.size(), count / 4);
    EXPECT_EQ(joined(found), text.substr(0, 16 * count));
    for (const std::string_view passage : found.val) EXPECT_EQ(passage.size(), 16u);
    const Passages all = cut_passages(text, 16, {.val = 0, .test = 0});
    EXPECT_EQ(all.train.size(), count);
    EXPECT_TRUE(cut_passages("short", 16, {}).train.empty());
}

TEST(HostPassages, CutNoCharacter) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += i % 3 == 0 ? "\u00e9" : i % 3 == 1 ? "\U0001f600" : "a";
    for (const std::size_t bytes : {4u, 5u, 6u, 7u}) {
        const Passages found = cut_passages(text, bytes, {});
        const std::string all = joined(found);
        EXPECT_EQ(all, text.substr(0, all.size()));
        EXPECT_LT(text.size() - all.size(), bytes);
        for (const std::string_view passage : found.train) {
            EXPECT_FALSE(invalid_utf8(passage).has_value());
            EXPECT_LE(passage.size(), bytes);
            EXPECT_GT(passage.size() + 4, bytes);
        }
    }
}

}  // namespace
}  // namespace vkf::test
