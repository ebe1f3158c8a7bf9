#include "models/generation/stop_strings.h"

#include "tests/scratch.h"

namespace vkf::test {
namespace {

// Feeds parts and returns the output for each part, then the remaining text, then "stopped" or not.
std::vector<std::string> passed(const std::vector<std::string>& stops, const std::vector<std::string>& parts) {
    StopStrings strings(stops);
    std::vector<std::string> out;
    for (const std::string& part : parts) out.push_back(strings.feed(part));
    out.push_back(strings.finish());
    out.push_back(strings.found() ? "stopped" : "");
    return out;
}

TEST(HostStopStrings, ATextEndsBeforeTheFirstOfThem) {
    using Parts = std::vector<std::string>;
    EXPECT_EQ(passed({}, {"ab", "c"}), (Parts{"ab", "c", "", ""}));
    EXPECT_EQ(passed({"bc"}, {"abcd", "e"}), (Parts{"a", "", "", "stopped"}));
    EXPECT_EQ(passed({"cd", "bc"}, {"abcd"}), (Parts{"a", "", "stopped"}));  // first in the text, not in the list
    EXPECT_EQ(passed({"bcd"}, {"ab", "c", "x"}), (Parts{"a", "", "bcx", "", ""}));
    EXPECT_EQ(passed({"bcd"}, {"ab", "c"}), (Parts{"a", "", "bc", ""}));
    EXPECT_EQ(passed({"aab"}, {"a", "a", "a", "b", "c"}), (Parts{"", "", "a", "", "", "", "stopped"}));
    EXPECT_EQ(passed({"ab", "bc"}, {"xa", "c"}), (Parts{"x", "ac", "", ""}));
    expect_holds(complaint([] { StopStrings({"a", ""}); }), "a stop string is empty");
}

}  // namespace
}  // namespace vkf::test
