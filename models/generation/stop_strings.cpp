#include "models/generation/stop_strings.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace vkf {

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (const std::string& string : strings_) require(!string.empty(), "a stop string is empty, wanted some text");
}

std::string StopStrings::feed(std::string_view text) {
    if (found_) return {};
    pending_ += text;
    std::size_t end = pending_.size();  // end of the text that is passed on
    for (const std::string& string : strings_) {
        const std::size_t at = pending_.find(string);
        found_ = found_ || at != pending_.npos;
        end = std::min(end, at);
    }
    // Delays the longest end of the text with which a stop string begins.
    const std::string_view all = pending_;
    const auto may_begin = [&](std::size_t at) {
        return std::ranges::any_of(strings_,
                                   [&](std::string_view string) { return string.starts_with(all.substr(at)); });
    };
    for (std::size_t at = 0; !found_ && at < end; ++at)
        if (may_begin(at)) end = at;
    std::string passed = pending_.substr(0, end);
    pending_.erase(0, end);
    return passed;
}

std::string StopStrings::finish() {
    return found_ ? std::string() : std::exchange(pending_, {});
}

}  // namespace vkf
