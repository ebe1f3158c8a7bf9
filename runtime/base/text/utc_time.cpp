#include "base/text/utc_time.h"

#include <charconv>
#include <chrono>
#include <ctime>

namespace vkf {

std::string utc_now() {
    const std::time_t seconds = std::time(nullptr);
    char digits[32];
    return {digits, std::strftime(digits, sizeof digits, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds))};
}

std::optional<std::int64_t> utc_seconds(std::string_view text) {
    constexpr std::string_view form = "0000-00-00T00:00:00Z";
    if (text.size() != form.size()) return std::nullopt;
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return std::nullopt;
    const auto number = [&](std::size_t first, std::size_t digits) {
        int value = 0;
        std::from_chars(text.data() + first, text.data() + first + digits, value);
        return value;
    };
    const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
    const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                          std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    if (!day.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
    const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
    return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

}  // namespace vkf
