#include "models/data/images/image_set.h"

#include <utility>

#include "base/error.h"
#include "base/files/published.h"
#include "models/data/images/cifar.h"
#include "models/data/images/image_folder.h"
#include "models/images/codecs/decode.h"
#include "models/images/image.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

// A single one of the files makes a directory CIFAR's, so that missing files can be named.
bool holds_any(const fs::path& directory, const CifarFormat& format) {
    for (const CifarFile& file : format.files) {
        const fs::path path = directory / file.name;
        if (file_exists(path) || file_exists(path.string() + ".xz")) return true;
    }
    return false;
}

// An unpacked archive has its files in a folder of its own.
fs::path unpacked(const fs::path& directory) {
    std::error_code ignored;
    for (const CifarFormat* format : {&CIFAR10, &CIFAR100})
        if (fs::is_directory(directory / format->folder, ignored)) return directory / format->folder;
    return directory;
}

// A train.bin next to val.bin holds tokens.
bool holds_cifar100(const fs::path& directory) {
    return holds_any(directory, CIFAR100) && !file_exists(directory / "val.bin");
}

}  // namespace

Images::Images(std::size_t side) : side_(side) {
    require(side >= 1 && side <= std::size_t{Image::longest_side}, "images of side ", side, ", wanted 1 to ",
            Image::longest_side);
}

Images::Images(std::size_t side, const PictureLimits& limits, const std::optional<ImageFit>& fit) : Images(side) {
    in_memory_ = false;
    limits_ = limits;
    fit_ = fit;
}

void Images::read_whole(std::size_t i, Picture& picture) const {
    if (!in_memory()) {
        picture = decode_picture(MappedFile(files_[i]).bytes(), files_[i], limits_);
        if (!fit_) require_square(picture.width, picture.height, side_, files_[i]);
        return;
    }
    const std::span<const std::uint8_t> planes = pixels(i);
    const std::size_t plane = side_ * side_;
    picture.width = picture.height = static_cast<int>(side_);
    picture.rgb.resize(planes.size());
    std::uint8_t* rgb = picture.rgb.data();  // not indexed: bytes may alias the vector itself
    for (std::size_t at = 0; at < plane; ++at, rgb += CHANNELS) {
        rgb[0] = planes[at];
        rgb[1] = planes[plane + at];
        rgb[2] = planes[2 * plane + at];
    }
}

void Images::read_square(std::size_t i, Picture& picture) const {
    read_whole(i, picture);
    if (fit_) picture = fitted(picture, static_cast<int>(side_), *fit_, files_[i]);
}

std::vector<std::size_t> Images::per_class(std::size_t classes) const {
    std::vector<std::size_t> counts(classes);
    for (const std::int32_t label : labels_) ++counts.at(static_cast<std::size_t>(label));
    return counts;
}

Images Images::none() const {
    Images made = *this;
    made.pixels_.clear();
    made.files_.clear();
    made.labels_.clear();
    return made;
}

void Images::add(const std::uint8_t* pixels, std::int32_t label) {
    pixels_.push_back(pixels);
    labels_.push_back(label);
}

void Images::add(std::string file, std::int32_t label) {
    files_.push_back(std::move(file));
    labels_.push_back(label);
}

void Images::add(const Images& others, std::size_t i) {
    if (others.in_memory() != in_memory()) throw Error("images in memory cannot be added to images in files");
    if (others.in_memory())
        add(others.pixels_[i], others.label(i));
    else
        add(others.files_[i], others.label(i));
}

void require_square(int width, int height, std::size_t side, const std::string& name) {
    require(std::cmp_equal(width, side) && std::cmp_equal(height, side), name, ": is ", width, 'x', height, ", wanted ",
            side, 'x', side, " as the first image, or a side to resize to");
}

ImageSet open_images(const fs::path& path, const ImageOptions& options) {
    std::error_code ignored;
    require(fs::exists(path, ignored), "images ", path.string(), ": does not exist, wanted a directory");
    require(fs::is_directory(path, ignored), "images ", path.string(), ": is not a directory");
    const fs::path directory = unpacked(path);
    const std::string shown = directory.string();
    const bool ten = holds_any(directory, CIFAR10);
    const bool hundred = !ten && holds_cifar100(directory);
    require(hundred || !options.coarse, shown, ": has no coarse labels, wanted CIFAR-100's train.bin and test.bin");
    if (ten || hundred) {
        require(options.side == 0 || options.side == CIFAR_SIDE, shown, ": images have side ", CIFAR_SIDE, ", not ",
                options.side);
        return open_cifar(ten ? CIFAR10 : CIFAR100, directory, options.coarse);
    }
    require(!file_exists(directory / "val.bin"), shown, ": holds tokens (val.bin), wanted images");
    return open_image_folder(directory, options);
}

bool holds_images(const fs::path& path) {
    std::error_code ignored;
    const fs::path directory = unpacked(path);
    if (!fs::is_directory(directory, ignored)) return false;
    return holds_any(directory, CIFAR10) || holds_cifar100(directory) || holds_class_folders(directory);
}

}  // namespace vkf
