#include "models/data/image_folder.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "models/data/image_layout.h"
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
        if (options_.side > 0) return read_square_image(path, static_cast<int>(options_.side), options_.max_pixels);
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

// The classes of a split that has its own folder; they must be the set's unless those are still unknown.
Decoder::Labelled list_split(const fs::path& directory, ImageSet& set) {
    Decoder::Labelled files;
    std::vector<std::string>& names = set.class_names;
    const auto folders = folders_in(directory, set.passed_over);
    require(!folders.empty(), directory.string(), ": has no classes, wanted a folder of images for each");
    if (names.empty())
        for (const fs::path& folder : folders) names.push_back(folder.filename().string());
    for (const fs::path& folder : folders) {
        const auto name = std::ranges::find(names, folder.filename().string());
        require(name != names.end(), folder.string(), ": is no class of the training images");
        for (const fs::path& file : images_of_class(folder, set.passed_over))
            files.emplace_back(file, static_cast<std::int32_t>(name - names.begin()));
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
    Decoder::Labelled train, test;
    const ImageLayout layout = image_layout(directory, set.passed_over);
    if (layout.split) {
        require(!layout.test.empty(), layout.train.parent_path().string(), ": has ", layout.train.filename().string(),
                " but neither test nor val, wanted both");
        train = list_split(layout.train, set);
        test = list_split(layout.test, set);
    } else {
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
