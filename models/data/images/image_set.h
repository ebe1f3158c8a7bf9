// Labelled images as bytes, from CIFAR's files or from folders of pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "models/data/images/picture_files.h"
#include "models/images/codecs/picture.h"
#include "models/images/resize.h"

namespace vkf {

/// The images of one split and their labels. Views memory that its ImageSet owns.
class Images {
public:
    explicit Images(std::size_t image_bytes = 0) : image_bytes_(image_bytes) {}

    std::size_t size() const { return pixels_.size(); }

    /// Image i: planes of red, green and blue, each row by row from the top.
    /// Shapes: [C, side, side].
    std::span<const std::uint8_t> pixels(std::size_t i) const { return {pixels_[i], image_bytes_}; }
    std::int32_t label(std::size_t i) const { return labels_[i]; }
    std::span<const std::int32_t> labels() const { return labels_; }

    /// Number of images of each of `classes` classes.
    std::vector<std::size_t> per_class(std::size_t classes) const;

    void add(const std::uint8_t* pixels, std::int32_t label);

private:
    std::size_t image_bytes_;
    std::vector<const std::uint8_t*> pixels_;
    std::vector<std::int32_t> labels_;
};

/// Square images of one size with labels from 0 to classes − 1. Owns their bytes; move-only.
struct ImageSet {
    std::size_t side = 0;
    std::size_t channels = 3;
    std::vector<std::string> class_names;  // one per class
    Images train, test;        // images to learn, and images that choose the best model
    Images held_out;           // test images of data with both val and test, whose val is then in `test`
    bool split = true;         // the data have splits of their own
    bool test_is_val = false;  // `test` has the images of a split called val
    PassedOver passed_over;    // files in image folders that are not read

    std::size_t classes() const { return class_names.size(); }

    // Memory that the images point into: neither mappings nor vectors move their contents when they are moved.
    std::vector<MappedFile> files;
    std::vector<std::vector<std::uint8_t>> decoded;
};

struct ImageOptions {
    std::size_t side = 0;  // folders: every image becomes a square of this side; 0: unchanged
    bool coarse = false;   // CIFAR-100: the 20 coarse labels instead of the 100 fine ones
    std::int64_t max_pixels = DEFAULT_MAX_PIXELS;  // folders: most pixels that an image's file may have
    ImageFit fit = {};                             // folders: fitting of images to the side
};

/// Opens a directory of images.
///
///     data_batch_1.bin … data_batch_5.bin, test_batch.bin    CIFAR-10's binary layout (models/data/images/cifar.h)
///     train.bin, test.bin                                    CIFAR-100's
///     cifar-10-batches-bin/ or cifar-100-binary/             these files, in the folder of their archive
///     one folder of pictures per class                       see models/data/images/image_folder.h
///
/// Throws: InputError naming the file, what was found and what was wanted.
ImageSet open_images(const std::filesystem::path& path, const ImageOptions& options = {});

/// True if a directory looks like one of these, complete or not.
bool holds_images(const std::filesystem::path& path);

}  // namespace vkf
