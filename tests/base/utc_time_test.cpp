// Moments as text.

#include "base/text/utc_time.h"

#include <gtest/gtest.h>

#include <ctime>

namespace vkf::test {
namespace {

TEST(HostUtcTime, ReadsWhatItWrites) {
    const std::time_t before = std::time(nullptr);
    const std::optional<std::int64_t> now = utc_seconds(utc_now());
    ASSERT_TRUE(now);
    EXPECT_GE(*now, before);
    EXPECT_LE(*now, std::time(nullptr));
}

TEST(HostUtcTime, KnowsTheCalendar) {
    EXPECT_EQ(utc_seconds("1970-01-01T00:00:00Z"), 0);
    EXPECT_EQ(utc_seconds("1969-12-31T23:59:59Z"), -1);
    EXPECT_EQ(utc_seconds("2000-02-29T12:34:56Z"), 951827696);
    EXPECT_EQ(utc_seconds("2100-03-01T00:00:00Z"), 4107542400);
    for (const char* text :
         {"", "2026-01-31", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
          "2026-01-31T24:00:00Z", "2026-01-31T00:60:00Z", "2026-01-31T00:00:60Z", "2026-01-31 00:00:00Z",
          "2026-01-31T00:00:00+", "2026-01-3xT00:00:00Z", "2026-01-31T00:00:00Z ", "+026-01-31T00:00:00Z"})
        EXPECT_FALSE(utc_seconds(text)) << text;
}

}  // namespace
}  // namespace vkf::test
