// CIFAR-10 and CIFAR-100 in their binary distribution, mapped, and the contents of the official files.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/os/subprocess.h"
#include "models/data/images/image_set.h"

namespace vkf {

inline constexpr std::size_t CIFAR_SIDE = 32;
inline constexpr std::size_t CIFAR_PIXELS = 3 * CIFAR_SIDE * CIFAR_SIDE;

/// One file of the official distribution.
struct CifarFile {
    std::string_view name;
    bool training;
    std::size_t records;
    std::string_view md5;  // empty if unknown
};

/// A layout of records, label bytes first, then the planes of a 32×32 image, and the official files in it.
/// Krizhevsky: Learning Multiple Layers of Features from Tiny Images (2009).
struct CifarFormat {
    std::string_view title, name, folder, archive, archive_md5;
    std::size_t archive_bytes;
    std::span<const CifarFile> files;
    std::size_t label_bytes;        // 2: coarse, then fine
    std::string_view names;         // file of class names, one per line
    std::string_view coarse_names;  // file of the coarse classes' names
    std::size_t classes, coarse_classes;

    std::size_t record_bytes() const { return label_bytes + CIFAR_PIXELS; }
};

extern const CifarFormat CIFAR10;
extern const CifarFormat CIFAR100;

/// CIFAR-10's classes, in the order of their labels.
extern const std::array<std::string_view, 10> CIFAR10_NAMES;

/// Maps a directory of files in this layout; each file holds any whole number of images. The layout's file of names, if
/// it is there, gives the class names and thereby the number of classes.
/// Throws: InputError if a file is missing, empty, cut short or too long, or if a label has no class.
ImageSet open_cifar(const CifarFormat& format, const std::filesystem::path& directory, bool coarse = false);

/// Checks that the file has the size and, if known, the checksum of an official one; `shown` is its name in messages.
/// Throws: InputError naming found and wanted; Error if the checksum cannot be computed or `go_on` ended it.
void verify_cifar_file(const CifarFile& file, const CifarFormat& format, const std::filesystem::path& path,
                       const std::filesystem::path& shown, const GoOn& go_on = {});

/// Checks that all classes have the same number of images, as in the official sets.
/// Throws: InputError naming the class.
void verify_balance(const ImageSet& images, const std::filesystem::path& shown);

}  // namespace vkf
