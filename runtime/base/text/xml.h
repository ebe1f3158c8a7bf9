// Texts inside XML documents, such as SVG.
#pragma once

#include <string>
#include <string_view>

namespace vkf {

/// The text as a document's content, or as the value of an attribute in double quotes: & < > and " are escaped; bytes
/// that are not UTF-8, and characters that XML does not have, become U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace vkf
