// PNG by libpng.
#include <png.h>

#include <cstring>

#include "models/images/codecs/codecs.h"
#include "models/images/codecs/library_call.h"
#include "models/images/codecs/orientation.h"

namespace vkf {
namespace {

[[noreturn]] void on_error(png_structp png, png_const_charp reason) {
    static_cast<LibraryFailure*>(png_get_error_ptr(png))->leave(reason);
}

void on_warning(png_structp, png_const_charp) {}

class PngDecoder {
public:
    explicit PngDecoder(const EncodedPicture& file) : file_(file), left_(file.bytes) {}
    PngDecoder(const PngDecoder&) = delete;
    PngDecoder& operator=(const PngDecoder&) = delete;
    ~PngDecoder() { png_destroy_read_struct(&png_, &head_, &tail_); }

    DecodedPicture decode() {
        read_header();
        DecodedPicture made{file_.canvas(png_get_image_width(png_, head_), png_get_image_height(png_, head_))};
        read_pixels(made.picture);
        made.orientation = exif_orientation(exif());
        return made;
    }

private:
    void run(const std::function<void()>& step) {
        if (completes(failure_, step)) return;
        if (failure_.cut_short) file_.refuse_short();
        file_.refuse(failure_.reason.data());
    }

    static void give(png_structp png, png_bytep to, std::size_t count) {
        auto& decoder = *static_cast<PngDecoder*>(png_get_io_ptr(png));
        if (count > decoder.left_.size()) decoder.failure_.leave_for_more();
        std::memcpy(to, decoder.left_.data(), count);
        decoder.left_ = decoder.left_.subspan(count);
    }

    void read_header() {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure_, on_error, on_warning);
        head_ = png_ ? png_create_info_struct(png_) : nullptr;
        tail_ = head_ ? png_create_info_struct(png_) : nullptr;
        if (!tail_) throw std::bad_alloc();
        run([&] {
            png_set_read_fn(png_, this, give);
            png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // canvas() has its own limits
            // Only pixels and Exif are kept or unpacked, not profiles, texts and palettes of other pictures.
            png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
            png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_AS_DEFAULT, reinterpret_cast<png_const_bytep>("eXIf"),
                                        1);
            png_read_info(png_, head_);
        });
    }

    void read_pixels(Picture& picture) {
        run([&] {
            png_set_expand(png_);  // palettes, and grey of less than 8 bits
            png_set_strip_16(png_);
            png_set_strip_alpha(png_);
            png_set_gray_to_rgb(png_);
            const int passes = png_set_interlace_handling(png_);
            png_read_update_info(png_, head_);
            const std::size_t pitch = png_get_rowbytes(png_, head_);
            if (pitch != std::size_t{3} * png_get_image_width(png_, head_)) failure_.leave("rows that are no RGB");
            for (int pass = 0; pass < passes; ++pass)
                for (int y = 0; y < picture.height; ++y)
                    png_read_row(png_, picture.rgb.data() + static_cast<std::size_t>(y) * pitch, nullptr);
            png_read_end(png_, tail_);
        });
    }

    // Exif may be before the pixels or behind them.
    std::span<const std::byte> exif() const {
        for (const png_infop info : {head_, tail_}) {
            png_uint_32 size = 0;
            png_bytep block = nullptr;
            if (png_get_eXIf_1(png_, info, &size, &block) != 0) return std::as_bytes(std::span(block, size));
        }
        return {};
    }

    const EncodedPicture& file_;
    std::span<const std::byte> left_;  // rest of the file, not given to the library so far
    LibraryFailure failure_;
    png_structp png_ = nullptr;
    png_infop head_ = nullptr, tail_ = nullptr;  // chunks before the pixels, and behind them
};

}  // namespace

DecodedPicture decode_png(const EncodedPicture& file) {
    return PngDecoder(file).decode();
}

}  // namespace vkf
