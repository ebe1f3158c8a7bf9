#include "tests/images/encoded.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <jpeglib.h>
#include <png.h>
#include <webp/encode.h>

namespace vkf::test {
namespace {

void append(std::string& to, std::uint32_t value, int bytes, bool big_endian = false) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * (big_endian ? bytes - 1 - i : i));
}

std::string chunk(std::string_view name, std::string_view content) {
    std::string made(name);
    append(made, static_cast<std::uint32_t>(content.size()), 4);
    made += content;
    return content.size() % 2 ? made + '\0' : made;
}

void fail(png_structp, png_const_charp why) {
    throw std::logic_error(why);
}

}  // namespace

std::string encode_jpeg(const Samples& picture, const JpegOptions& options) {
    jpeg_error_mgr errors;
    jpeg_compress_struct jpeg;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width = static_cast<JDIMENSION>(picture.width);
    jpeg.image_height = static_cast<JDIMENSION>(picture.height);
    jpeg.input_components = picture.channels;
    jpeg.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : picture.channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (!options.half_colours) jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
    if (options.progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    if (!options.exif.empty())
        jpeg_write_marker(&jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(options.exif.data()),
                          static_cast<unsigned>(options.exif.size()));
    std::vector<std::uint8_t> stored = picture.samples;
    if (picture.channels == 4)
        for (std::uint8_t& ink : stored) ink = static_cast<std::uint8_t>(255 - ink);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = stored.data() + jpeg.next_scanline * stored.size() / jpeg.image_height;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    std::string made(reinterpret_cast<const char*>(bytes), size);
    std::free(bytes);
    return made;
}

std::string encode_png(const Samples& picture, const PngOptions& options) {
    std::string made;
    const auto write = [](png_structp png, png_bytep bytes, std::size_t size) {
        static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(bytes), size);
    };
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, fail, nullptr);
    png_infop info = png_create_info_struct(png), behind = png_create_info_struct(png);
    png_set_write_fn(png, &made, write, nullptr);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
                 options.depth, options.colour_type, options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!options.palette.empty())
        png_set_PLTE(png, info, reinterpret_cast<png_const_colorp>(options.palette.data()),
                     static_cast<int>(options.palette.size() / 3));
    if (!options.palette_alpha.empty())
        png_set_tRNS(png, info, options.palette_alpha.data(), static_cast<int>(options.palette_alpha.size()), nullptr);
    std::string exif(options.exif);
    if (!exif.empty())
        png_set_eXIf_1(png, options.exif_behind ? behind : info, static_cast<png_uint_32>(exif.size()),
                       reinterpret_cast<png_bytep>(exif.data()));
    png_write_info(png, info);
    if (options.header_only) {
        made += std::string("\0\0\x10\0IDAT", 8);
    } else {
        png_set_packing(png);
        std::vector<std::uint8_t> samples = picture.samples;
        std::vector<png_bytep> rows;
        for (int y = 0; y < picture.height; ++y)
            rows.push_back(samples.data() +
                           samples.size() / static_cast<std::size_t>(picture.height) * static_cast<std::size_t>(y));
        png_write_image(png, rows.data());
        png_write_end(png, behind);
    }
    png_destroy_info_struct(png, &behind);
    png_destroy_write_struct(&png, &info);
    return made;
}

std::string encode_webp(const Samples& picture, bool lossless, std::string_view exif) {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    const auto* rgb = picture.samples.data();
    const int width = picture.width, height = picture.height, pitch = width * picture.channels;
    if (picture.channels == 4)
        size = lossless ? WebPEncodeLosslessRGBA(rgb, width, height, pitch, &bytes)
                        : WebPEncodeRGBA(rgb, width, height, pitch, 100, &bytes);
    else
        size = lossless ? WebPEncodeLosslessRGB(rgb, width, height, pitch, &bytes)
                        : WebPEncodeRGB(rgb, width, height, pitch, 100, &bytes);
    std::string made(reinterpret_cast<const char*>(bytes), size);
    WebPFree(bytes);
    if (exif.empty()) return made;
    // Extended layout: a chunk with flags (8: has Exif) and the size, before the chunk of the pixels.
    std::string header;
    append(header, 8, 4);
    append(header, static_cast<std::uint32_t>(width - 1), 3);
    append(header, static_cast<std::uint32_t>(height - 1), 3);
    return chunk("RIFF", "WEBP" + chunk("VP8X", header) + made.substr(12) + chunk("EXIF", exif));
}

std::string exif_block(int orientation, bool big_endian) {
    std::string made = big_endian ? std::string("MM\0*", 4) : std::string("II*\0", 4);
    const auto number = [&](int value, int bytes) {
        append(made, static_cast<std::uint32_t>(value), bytes, big_endian);
    };
    number(8, 4);  // offset of the directory
    number(2, 2);  // number of entries: another one, then the orientation
    number(0x0100, 2), number(3, 2), number(1, 4), number(77, 2), number(0, 2);
    number(0x0112, 2), number(3, 2), number(1, 4), number(orientation, 2), number(0, 2);
    number(0, 4);
    return made;
}

}  // namespace vkf::test
