// Strings that end a text while it is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// Passes on a text, portion by portion, up to the first of the strings; delays text that may be the beginning of a
/// string.
class StopStrings {
public:
    /// Throws: InputError if a string is empty.
    explicit StopStrings(std::vector<std::string> strings);

    /// Returns text that certainly precedes all strings; nothing after a string was found.
    std::string feed(std::string_view text);
    /// Returns the delayed text at the end of the text; nothing if a string was found.
    std::string finish();
    bool found() const { return found_; }

private:
    std::vector<std::string> strings_;
    std::string pending_;
    bool found_ = false;
};

}  // namespace vkf
