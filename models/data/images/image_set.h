// Labelled images as bytes, from CIFAR's files or from folders of pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "models/data/images/picture_files.h"
#include "models/images/codecs/picture.h"
#include "models/images/resize.h"

namespace vkf {

/// Default limit of a folder's images in memory: Tiny-ImageNet's take a third of it.
inline constexpr std::int64_t DEFAULT_IMAGE_MEMORY = std::int64_t{4} << 30;

/// The images of one split and their labels: either all in memory, as squares of one side, which views memory that its
/// ImageSet owns, or all in files, which are decoded each time that they are read.
class Images {
public:
    Images() = default;
    /// Images in memory. Throws: InputError if the side is not that of an image.
    explicit Images(std::size_t side);
    /// Images in files, which are fitted to squares of the side. Without a fit they must be such squares.
    Images(std::size_t side, const PictureLimits& limits, const std::optional<ImageFit>& fit);

    std::size_t size() const { return labels_.size(); }
    bool in_memory() const { return in_memory_; }

    /// Image i in memory: planes of red, green and blue, each row by row from the top.
    /// Shapes: [C, side, side].
    std::span<const std::uint8_t> pixels(std::size_t i) const { return {pixels_[i], 3 * side_ * side_}; }
    std::int32_t label(std::size_t i) const { return labels_[i]; }
    std::span<const std::int32_t> labels() const { return labels_; }

    /// Image i, of three channels: the picture of its file, or a square. `picture`'s memory is reused.
    /// Callable from several threads.
    /// Throws: InputError naming the file if it cannot be read or decoded, or is no square that is wanted.
    void read_whole(std::size_t i, Picture& picture) const;
    void read_square(std::size_t i, Picture& picture) const;

    /// Number of images of each of `classes` classes.
    std::vector<std::size_t> per_class(std::size_t classes) const;

    /// No images, to which images of these can be added.
    Images none() const;
    void add(const std::uint8_t* pixels, std::int32_t label);
    void add(std::string file, std::int32_t label);
    /// Adds image i of other images, which are kept in the same way.
    void add(const Images& others, std::size_t i);

private:
    bool in_memory_ = true;
    std::size_t side_ = 0;
    PictureLimits limits_;         // of files
    std::optional<ImageFit> fit_;  // of their pictures
    std::vector<const std::uint8_t*> pixels_;
    std::vector<std::string> files_;  // not paths, which take several times as much memory
    std::vector<std::int32_t> labels_;
};

/// Labelled images of any size for a model that takes squares of one side, with labels from 0 to classes − 1. Owns the
/// bytes of images in memory; move-only.
struct ImageSet {
    std::size_t side = 0;  // of the squares
    std::size_t channels = 3;
    std::vector<std::string> class_names;  // one per class
    Images train, test;                    // images to learn, and images that choose the best model
    Images held_out;                       // test images of data with both val and test, whose val is then in `test`
    bool split = true;                     // the data have splits of their own
    bool test_is_val = false;              // `test` has the images of a split called val
    PassedOver passed_over;                // files in image folders that are not read

    std::size_t classes() const { return class_names.size(); }

    // Memory that the images point into: neither mappings nor vectors move their contents when they are moved.
    std::vector<MappedFile> files;
    std::vector<std::vector<std::uint8_t>> decoded;
};

struct ImageOptions {
    std::size_t side = 0;                          // folders: every image becomes a square of this side; 0: unchanged
    bool coarse = false;                           // CIFAR-100: the 20 coarse labels instead of the 100 fine ones
    std::int64_t max_pixels = DEFAULT_MAX_PIXELS;  // folders: most pixels that an image's file may have
    ImageFit fit = {};                             // folders: fitting of images to the side
    bool whole = false;                            // folders, with a side: training images stay whole, in their files
    std::int64_t memory = DEFAULT_IMAGE_MEMORY;  // folders: most bytes of images; if they have more, all stay in files
};

/// Throws: InputError beginning with `name` unless a picture of this size is a square of the side.
void require_square(int width, int height, std::size_t side, const std::string& name);

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
