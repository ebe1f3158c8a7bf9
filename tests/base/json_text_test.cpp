#include "base/text/json_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace vkf {
namespace {

using nlohmann::ordered_json;

TEST(HostJsonText, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(json_text({{"path", "a\xff\xfe"}}), "{\"path\":\"a\ufffd\ufffd\"}");
}

TEST(HostJsonText, WhatSteersTerminalsIsEscapedAndKeepsItsValue) {
    const ordered_json value{{"a\u009b", "b\x1b\x7f\u202e\u2066\u0085\n語"}};
    const std::string text = json_text(value, 2);
    EXPECT_EQ(text, "{\n  \"a\\u009b\": \"b\\u001b\\u007f\\u202e\\u2066\\u0085\\n語\"\n}");
    EXPECT_EQ(ordered_json::parse(text), value);
}

TEST(HostJsonText, NumbersHaveTenDigits) {
    const ordered_json value{{"accuracy", 1 - 0.8},        {"list", {0.1f, 1.0 / 3, -2.5}},
                             {"flops", 123456789012345.0}, {"count", 12345678901},
                             {"large", 1.23456789012e-30}, {"undefined", std::numeric_limits<double>::quiet_NaN()}};
    EXPECT_EQ(json_text(rounded(value)),
              "{\"accuracy\":0.2,\"list\":[0.1000000015,0.3333333333,-2.5],\"flops\":123456789012345.0,"
              "\"count\":12345678901,\"large\":1.23456789e-30,\"undefined\":null}");
}

TEST(HostJsonText, RoundedFloatsAreThemselves) {
    for (float value : {0.1f, 3.14159274f, 1.17549435e-38f, 16777217.0f / 3, 2.00000024f})
        EXPECT_EQ(static_cast<float>(rounded(ordered_json(value)).get<double>()), value);
}

}  // namespace
}  // namespace vkf
