// Strings that end a text while it is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// Passes a text on, portion by portion, up to the first place where one of the strings begins; holds back what may be
/// the beginning of one.
class StopStrings {
public:
    /// Throws: InputError if one of them is empty.
    explicit StopStrings(std::vector<std::string> strings);

    /// What is sure to come before any of them. Nothing once one is found.
    std::string feed(std::string_view text);
    /// What was held back, if no more follows and none of them came.
    std::string finish();
    bool found() const { return found_; }

private:
    std::vector<std::string> strings_;
    std::string pending_;
    bool found_ = false;
};

}  // namespace vkf
