// Pictures that a report shows beside its curves, such as attention maps and confusion matrices.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace vkf {

struct ReportPicture {
    std::string name;        // of the file
    std::string media_type;  // image/png, image/jpeg, image/webp or image/svg+xml
    std::string bytes;
    std::int64_t width = 0, height = 0;  // 0 for SVG
};

/// Reads a PNG, JPEG, WebP or SVG file of at most 4 MiB; pictures of pixels are decoded once, so that a damaged one is
/// refused. Throws InputError naming the file.
ReportPicture read_report_picture(const std::filesystem::path& file);

/// The picture as an HTML element that holds it, with its name below. An SVG file is shown as an image, so that scripts
/// in it do not run.
std::string picture_element(const ReportPicture& picture);

}  // namespace vkf
