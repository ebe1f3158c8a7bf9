#include "base/text/utf8.h"

#include <gtest/gtest.h>

namespace vkf {
namespace {

TEST(HostUtf8, EveryCodePointSurvivesTheRoundTrip) {
    for (char32_t value = 0; value <= 0x10ffff; ++value) {
        if (value == 0xd800) value = 0xe000;  // skips the surrogates, which are not characters
        std::string bytes;
        append_utf8(bytes, value);
        const CodePoint read = decode_utf8(bytes, 0);
        ASSERT_EQ(read.value, value);
        ASSERT_EQ(read.bytes, bytes.size());
        bytes.pop_back();
        ASSERT_EQ(bytes.empty() ? 0 : decode_utf8(bytes, 0).bytes, 0u);
    }
}

TEST(HostUtf8, MalformedBytesAreFoundWhereTheyStand) {
    for (const std::string bad : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                                  "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
                                  "\xfe", "\xe2\x82", "\xe2\x28\xa1", "\xc3(", "\xf0\x9f\x98"}) {
        EXPECT_EQ(invalid_utf8("é" + bad + "x"), 2u) << testing::PrintToString(bad);
    }
    EXPECT_EQ(invalid_utf8(""), std::nullopt);
    EXPECT_EQ(invalid_utf8("a\u00e9\u20ac\U0001f600"), std::nullopt);
}

}  // namespace
}  // namespace vkf
