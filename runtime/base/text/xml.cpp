#include "base/text/xml.h"

#include <algorithm>
#include <cstddef>

#include "base/text/utf8.h"

namespace vkf {

namespace {

/// Characters of XML 1.0, §2.2.
bool in_xml(char32_t c) {
    return c >= 0x20 ? c != 0xfffe && c != 0xffff : c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string xml_text(std::string_view text) {
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        if (c.value == '&')
            made += "&amp;";
        else if (c.value == '<')
            made += "&lt;";
        else if (c.value == '>')
            made += "&gt;";
        else if (c.value == '"')
            made += "&quot;";
        else
            append_utf8(made, c.bytes > 0 && in_xml(c.value) ? c.value : 0xfffd);
        at += std::max<std::size_t>(c.bytes, 1);
    }
    return made;
}

}  // namespace vkf
