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

// Decodes the files of one split into one block of bytes.
class Decoder {
public:
    Decoder(ImageSet& set, const ImageOptions& options) : set_(set), options_(options) { set_.side = options.side; }

    using Labelled = std::vector<std::pair<fs::path, std::int32_t>>;

    Images decode_all(const Labelled& files) {
        std::vector<std::uint8_t> bytes;
        for (std::size_t i = 0; i < files.size(); ++i) {
            const Image image = read(files[i].first);
            const std::size_t at = bytes.size();
            bytes.resize(at + image.bytes().size());
            write_planes(image, std::span(bytes).subspan(at));
            if (i == 0) bytes.reserve(bytes.size() * files.size());
        }
        const std::size_t image_bytes = files.empty() ? 0 : bytes.size() / files.size();
        const std::uint8_t* at = set_.decoded.emplace_back(std::move(bytes)).data();
        Images images(image_bytes);
        for (std::size_t i = 0; i < files.size(); ++i) images.add(at + i * image_bytes, files[i].second);
        return images;
    }

private:
    Image read(const fs::path& path) {
        if (options_.side > 0)
            return read_square_image(path, static_cast<int>(options_.side), options_.max_pixels, options_.fit);
        Image image = read_image(path, options_.max_pixels);
        const bool square = image.width() == image.height();
        if (set_.side == 0) {
            require(square, path.string(), ": is ", image.width(), 'x', image.height(),
                    ", wanted a square, or a side to resize to");
            set_.side = static_cast<std::size_t>(image.width());
            first_ = path;
        }
        require(square && set_.side == static_cast<std::size_t>(image.width()), path.string(), ": is ", image.width(),
                'x', image.height(), ", wanted ", set_.side, 'x', set_.side, " as ", first_.string(),
                ", or a side to resize to");
        return image;
    }

    ImageSet& set_;
    ImageOptions options_;
    fs::path first_;
};

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
Decoder::Labelled list_annotated(const fs::path& annotations, ImageSet& set) {
    Decoder::Labelled files;
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
        files.emplace_back(annotations.parent_path() / "images" / name, *found);
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
Decoder::Labelled list_split(const fs::path& directory, ImageSet& set) {
    Decoder::Labelled files;
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
        for (const fs::path& file : images_of_class(folder, set.passed_over)) files.emplace_back(file, *label);
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
    Decoder decoder(set, options);
    Decoder::Labelled train, test, held_out;
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
        const Decoder::Labelled all = list_split(layout.train, set);
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
    set.train = decoder.decode_all(train);
    set.test = decoder.decode_all(test);
    set.held_out = decoder.decode_all(held_out);
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
