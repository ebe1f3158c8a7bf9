// Text of JSON, for files and standard output.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace vkf {

/// The value in UTF-8, on several lines if `indent` is not negative. Bytes of its texts that are not UTF-8, as in names
/// of files, become U+FFFD, and characters that steer terminals (base/text/plain_text.h) are escaped.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

/// The value with its numbers rounded to ten significant digits, more than any float has; whole numbers stay.
nlohmann::ordered_json rounded(nlohmann::ordered_json value);

/// Text of a document as commands print it and write it into files: rounded, indented, with a line end.
std::string document_text(const nlohmann::ordered_json& document);

}  // namespace vkf
