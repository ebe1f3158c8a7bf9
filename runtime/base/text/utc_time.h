// Moments as text: UTC to the second, in the form of RFC 3339, "2026-01-31T12:00:00Z".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vkf {

/// The present moment.
std::string utc_now();

/// Seconds since the beginning of 1970; nothing if the text has another form or names no moment.
std::optional<std::int64_t> utc_seconds(std::string_view text);

}  // namespace vkf
