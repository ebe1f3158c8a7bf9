// JPEG by libjpeg-turbo.
#include <cstdio>  // which jpeglib.h wants before it

#include <jpeglib.h>

#include <jerror.h>

#include <array>
#include <cstring>

#include "models/images/codecs/codecs.h"
#include "models/images/codecs/library_call.h"
#include "models/images/codecs/orientation.h"

#ifndef LIBJPEG_TURBO_VERSION
#error "libjpeg-turbo is needed: other libraries of that interface give other pixels"
#endif

namespace vkf {
namespace {

constexpr int MOST_SCANS = 100;  // progressive files have about ten; each scan visits all of the picture's blocks

LibraryFailure& failure_of(j_common_ptr jpeg) {
    return *static_cast<LibraryFailure*>(jpeg->client_data);
}

[[noreturn]] void on_error(j_common_ptr jpeg) {
    char reason[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, reason);
    failure_of(jpeg).leave(reason);
}

// The library continues after a warning. If it then invents pixels, the file is damaged.
void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;  // not even a warning
    switch (jpeg->err->msg_code) {
        case JWRN_JPEG_EOF:
            failure_of(jpeg).leave_for_more();
        case JWRN_HIT_MARKER:
        case JWRN_HUFF_BAD_CODE:
        case JWRN_ARITH_BAD_CODE:
        case JWRN_MUST_RESYNC:
            on_error(jpeg);
        default:
            return;  // bytes between segments, a strange version: pixels are not affected
    }
}

void on_progress(j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > MOST_SCANS)
        failure_of(jpeg).leave("more than 100 scans");
}

// a·b / 255, rounded as PIL does.
std::uint8_t scaled(unsigned a, unsigned b) {
    const unsigned product = a * b + 128;
    return static_cast<std::uint8_t>(((product >> 8) + product) >> 8);
}

class JpegDecoder {
public:
    explicit JpegDecoder(const EncodedPicture& file) : file_(file) {
        jpeg_.err = jpeg_std_error(&errors_);
        errors_.error_exit = on_error;
        errors_.emit_message = on_message;
        progress_.progress_monitor = on_progress;
        jpeg_.client_data = &failure_;
    }
    JpegDecoder(const JpegDecoder&) = delete;
    JpegDecoder& operator=(const JpegDecoder&) = delete;
    ~JpegDecoder() { jpeg_destroy_decompress(&jpeg_); }

    DecodedPicture decode() {
        read_header();
        DecodedPicture made{file_.canvas(jpeg_.image_width, jpeg_.image_height), orientation()};
        run([&] { jpeg_start_decompress(&jpeg_); });
        if (jpeg_.out_color_space == JCS_CMYK)
            read_cmyk(made.picture);
        else
            read_rgb(made.picture);
        run([&] { jpeg_finish_decompress(&jpeg_); });
        return made;
    }

private:
    void run(const std::function<void()>& step) {
        if (completes(failure_, step)) return;
        if (failure_.cut_short) file_.refuse_short();
        file_.refuse(failure_.reason.data());
    }

    void read_header() {
        run([&] {
            jpeg_create_decompress(&jpeg_);
            jpeg_.progress = &progress_;
            jpeg_mem_src(&jpeg_, file_.data(), static_cast<unsigned long>(file_.bytes.size()));
            jpeg_save_markers(&jpeg_, JPEG_APP0 + 1, 0xffff);
            jpeg_read_header(&jpeg_, TRUE);
        });
        switch (jpeg_.jpeg_color_space) {
            case JCS_GRAYSCALE:
            case JCS_RGB:
            case JCS_YCbCr:
                jpeg_.out_color_space = JCS_RGB;
                break;
            case JCS_CMYK:
            case JCS_YCCK:
                jpeg_.out_color_space = JCS_CMYK;
                break;
            default:
                file_.refuse("its colours are neither grey, RGB nor CMYK");
        }
    }

    int orientation() const {
        constexpr std::string_view EXIF("Exif\0\0", 6);
        for (jpeg_saved_marker_ptr marker = jpeg_.marker_list; marker; marker = marker->next)
            if (marker->data_length >= EXIF.size() && std::memcmp(marker->data, EXIF.data(), EXIF.size()) == 0)
                return exif_orientation(std::as_bytes(std::span(marker->data, marker->data_length)));
        return 1;
    }

    void read_rgb(Picture& picture) {
        run([&] {
            const std::size_t pitch = picture.rgb.size() / jpeg_.output_height;
            while (jpeg_.output_scanline < jpeg_.output_height) {
                JSAMPROW row = picture.rgb.data() + jpeg_.output_scanline * pitch;
                jpeg_read_scanlines(&jpeg_, &row, 1);
            }
        });
    }

    // Files hold inks inverted, as Adobe writes them: 255 is no ink.
    void read_cmyk(Picture& picture) {
        std::vector<JSAMPLE> inks(std::size_t{4} * jpeg_.output_width);
        run([&] {
            std::uint8_t* to = picture.rgb.data();
            JSAMPROW row = inks.data();
            while (jpeg_.output_scanline < jpeg_.output_height) {
                jpeg_read_scanlines(&jpeg_, &row, 1);
                for (const JSAMPLE* ink = row; ink != row + inks.size(); ink += 4)
                    for (int channel = 0; channel < 3; ++channel)
                        *to++ = static_cast<std::uint8_t>(ink[3] - scaled(255u - ink[channel], ink[3]));
            }
        });
    }

    const EncodedPicture& file_;
    LibraryFailure failure_;
    jpeg_error_mgr errors_{};
    jpeg_progress_mgr progress_{};
    jpeg_decompress_struct jpeg_{};
};

}  // namespace

DecodedPicture decode_jpeg(const EncodedPicture& file) {
    return JpegDecoder(file).decode();
}

}  // namespace vkf
