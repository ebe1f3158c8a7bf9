#include "models/data/images/image_folder.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files/small_file.h"
#include "models/data/images/image_layout.h"
#include "models/images/image_file.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

// Files with their classes.
using Labelled = std::vector<std::pair<std::string, std::int32_t>>;

// Side of the first picture, which must be a square.
std::size_t side_of(const std::string& file, const ImageOptions& options) {
    const Image image = read_image(file, options.max_pixels);
    require(image.width() == image.height(), file, ": is ", image.width(), 'x', image.height(),
            ", wanted a square, or a side to resize to");
    return static_cast<std::size_t>(image.width());
}

Image read_square(const std::string& file, const ImageOptions& options, std::size_t side) {
    if (options.side > 0) return read_square_image(file, static_cast<int>(side), options.max_pixels, options.fit);
    Image image = read_image(file, options.max_pixels);
    require_square(image.width(), image.height(), side, file);
    return image;
}

std::size_t image_bytes(const ImageSet& set) {
    return set.channels * set.side * set.side;
}

// Decodes the pictures of one split into one block of bytes.
Images decode_all(const Labelled& files, const ImageOptions& options, ImageSet& set) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(files.size() * image_bytes(set));
    for (const auto& [file, label] : files) {
        bytes.resize(bytes.size() + image_bytes(set));
        write_planes(read_square(file, options, set.side), std::span(bytes).last(image_bytes(set)));
    }
    const std::uint8_t* at = set.decoded.emplace_back(std::move(bytes)).data();
    Images images(set.side);
    for (std::size_t i = 0; i < files.size(); ++i) images.add(at + i * image_bytes(set), files[i].second);
    return images;
}

Images leave_in_files(Labelled files, const ImageOptions& options, const ImageSet& set) {
    Images images(set.side, {.pixels = options.max_pixels},
                  options.side > 0 ? std::optional(options.fit) : std::nullopt);
    for (auto& [file, label] : files) images.add(std::move(file), label);
    return images;
}

std::vector<fs::path> images_of_class(const fs::path& folder, PassedOver& passed_over) {
    PassedOver here;
    auto files = picture_files(folder, here);
    require(!files.empty(), folder.string(), ": is a class without an image, wanted PNG, JPEG or WebP files",
            here.empty() ? "" : "; found " + passed_over_text(here));
    add(passed_over, here);
    return files;
}

// Number of the class with this name; nothing if there is none.
std::optional<std::int32_t> class_of(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::int32_t>(found - names.begin());
}

// Pictures of Tiny-ImageNet's validation split with their classes, in the order of the annotations file.
Labelled list_annotated(const fs::path& annotations, ImageSet& set) {
    Labelled files;
    std::istringstream lines(read_small_text(annotations));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        std::istringstream words(line);
        std::string name, label;
        if (!(words >> name)) continue;
        words >> label;
        const auto found = class_of(set.class_names, label);
        require(found.has_value(), annotations.string(), ": line ", number, ": '", label,
                "' is no class of the training images");
        require(fs::path(name).filename() == name, annotations.string(), ": line ", number, ": '", name,
                "' is no name of a file");
        files.emplace_back((annotations.parent_path() / "images" / name).string(), *found);
    }
    require(!files.empty(), annotations.string(), ": has no lines");
    const auto all = picture_files(annotations.parent_path() / "images", set.passed_over);
    if (all.size() > files.size()) set.passed_over["picture without a class"] += all.size() - files.size();
    return files;
}

// True if one of the split's folders is a class; some test splits have no labels.
bool has_labels(const fs::path& directory, const std::vector<std::string>& names) {
    PassedOver ignored;
    return std::ranges::any_of(folders_in(directory, ignored), [&](const fs::path& folder) {
        return class_of(names, folder.filename().string()).has_value();
    });
}

// Lists a split that has its own folder. Its classes must be those of the set, unless these are still unknown.
Labelled list_split(const fs::path& directory, ImageSet& set) {
    Labelled files;
    std::vector<std::string>& names = set.class_names;
    const fs::path annotations = directory / "val_annotations.txt";
    std::error_code error;
    if (!names.empty() && fs::exists(annotations, error)) return list_annotated(annotations, set);
    const auto folders = folders_in(directory, set.passed_over);
    require(!folders.empty(), directory.string(), ": has no classes, wanted a folder of images for each");
    if (names.empty())
        for (const fs::path& folder : folders) names.push_back(folder.filename().string());
    for (const fs::path& folder : folders) {
        const auto label = class_of(names, folder.filename().string());
        require(label.has_value(), folder.string(), ": is no class of the training images");
        for (const fs::path& file : images_of_class(folder, set.passed_over)) files.emplace_back(file.string(), *label);
    }
    require(folders.size() == names.size(), directory.string(), ": has ", folders.size(), " classes, wanted the ",
            names.size(), " of the training images");
    return files;
}

}  // namespace

ImageSet open_image_folder(const fs::path& directory, const ImageOptions& options) {
    require(options.side <= Image::longest_side, "side ", options.side, " is too large for images, wanted at most ",
            Image::longest_side);
    ImageSet set;
    Labelled train, test, held_out;
    const ImageLayout layout = image_layout(directory, set.passed_over);
    if (layout.split) {
        const bool both = !layout.val.empty() && !layout.test.empty();
        require(!layout.val.empty() || !layout.test.empty(), layout.train.parent_path().string(), ": has ",
                layout.train.filename().string(), " but neither test nor val, wanted one of them");
        train = list_split(layout.train, set);
        set.test_is_val = !layout.val.empty();
        test = list_split(set.test_is_val ? layout.val : layout.test, set);
        if (both && has_labels(layout.test, set.class_names))
            held_out = list_split(layout.test, set);
        else if (both)
            ++set.passed_over[layout.test.filename().string() + "/ without classes"];
    } else {
        set.split = false;
        const Labelled all = list_split(layout.train, set);
        for (auto from = all.begin(); from != all.end();) {
            const auto to =
                std::find_if(from, all.end(), [&](const auto& file) { return file.second != from->second; });
            const auto count = to - from;
            const auto cut = to - (count > 1 ? std::max<std::ptrdiff_t>(count / 10, 1) : 0);
            train.insert(train.end(), from, cut);
            test.insert(test.end(), cut, to);
            from = to;
        }
        require(!test.empty(), directory.string(), ": has one image per class, wanted at least two of one for testing");
    }
    set.side = options.side > 0 ? options.side : side_of(train.front().first, options);
    const bool whole = options.whole && options.side > 0;
    const std::size_t fitted = (whole ? 0 : train.size()) + test.size() + held_out.size();
    const bool fit_in_memory = fitted <= static_cast<std::size_t>(options.memory) / image_bytes(set);
    const auto images = [&](Labelled& files, bool decode) {
        if (files.empty()) return Images();
        return decode ? decode_all(files, options, set) : leave_in_files(std::move(files), options, set);
    };
    set.train = images(train, fit_in_memory && !whole);
    set.test = images(test, fit_in_memory);
    set.held_out = images(held_out, fit_in_memory);
    return set;
}

bool holds_class_folders(const fs::path& directory) {
    PassedOver ignored;
    const auto folders = folders_in(image_layout(directory, ignored).train, ignored);
    return !folders.empty() && std::ranges::all_of(folders, [&](const fs::path& folder) {
        return !picture_files(folder, ignored, 1).empty();
    });
}

}  // namespace vkf
