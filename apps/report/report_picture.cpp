#include "apps/report/report_picture.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/xml.h"
#include "models/images/codecs/decode.h"

namespace vkf {

namespace {

constexpr std::uint64_t MOST_BYTES = 4 << 20;

/// Media type by the first bytes; "" for other files.
std::string media_type(std::string_view bytes) {
    if (bytes.starts_with("\x89PNG")) return "image/png";
    if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
    if (bytes.starts_with("RIFF") && bytes.substr(std::min<std::size_t>(8, bytes.size())).starts_with("WEBP"))
        return "image/webp";
    if (bytes.starts_with("<svg") || (bytes.starts_with("<?xml") && bytes.find("<svg") != std::string_view::npos))
        return "image/svg+xml";
    return {};
}

/// Base64 of RFC 4648, with padding.
std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string made;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (k < count ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k) made += k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return made;
}

}  // namespace

ReportPicture read_report_picture(const std::filesystem::path& file) {
    ReportPicture made{.name = file.filename().string(), .media_type = {}, .bytes = read_small_text(file, MOST_BYTES)};
    made.media_type = media_type(made.bytes);
    require(!made.media_type.empty(), file.string(), ": is no picture, wanted PNG, JPEG, WebP or SVG");
    if (made.media_type == "image/svg+xml") return made;
    const Picture decoded = decode_picture(std::as_bytes(std::span(made.bytes)), file.string());
    made.width = decoded.width;
    made.height = decoded.height;
    return made;
}

std::string picture_element(const ReportPicture& picture) {
    const std::string name = xml_text(picture.name);
    return text("<figure><img alt=\"", name, "\" src=\"data:", picture.media_type, ";base64,", base64(picture.bytes),
                "\"><figcaption>", name, "</figcaption></figure>\n");
}

}  // namespace vkf
