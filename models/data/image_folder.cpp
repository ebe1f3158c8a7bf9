#include "models/data/image_folder.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "models/images/image_file.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

bool hidden(const fs::path& path) {
    return path.filename().string().starts_with('.');
}

bool is_image(const fs::path& path) {
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// Folders directly in a directory, in the order of their names.
std::vector<fs::path> folders_in(const fs::path& directory) {
    std::vector<fs::path> folders;
    std::error_code error, ignored;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
        if (!hidden(entry->path()) && entry->is_directory(ignored)) folders.push_back(entry->path());
    require(!error, "cannot read ", directory.string(), ": ", error.message());
    std::ranges::sort(folders);
    return folders;
}

// Image files anywhere below a directory, in the order of their paths; no more than `most`.
std::vector<fs::path> images_below(const fs::path& directory, std::size_t most = SIZE_MAX) {
    std::vector<fs::path> files;
    std::error_code error, ignored;
    fs::recursive_directory_iterator entry(directory, error);
    for (const fs::recursive_directory_iterator end; !error && entry != end && files.size() < most;) {
        const fs::path& path = entry->path();
        if (hidden(path) && entry->is_directory(ignored)) entry.disable_recursion_pending();
        if (!hidden(path) && is_image(path) && entry->is_regular_file(ignored)) files.push_back(path);
        entry.increment(error);
    }
    require(!error, "cannot read ", directory.string(), ": ", error.message());
    std::ranges::sort(files);
    return files;
}

// Decodes the files of one split into one block of bytes.
class Decoder {
public:
    Decoder(ImageSet& set, std::size_t side) : set_(set), wanted_(side) { set_.side = side; }

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
        if (wanted_ > 0) return read_square_image(path, static_cast<int>(wanted_));
        Image image = read_image(path);
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
    std::size_t wanted_;
    fs::path first_;
};

std::vector<fs::path> images_of_class(const fs::path& folder) {
    auto files = images_below(folder);
    require(!files.empty(), folder.string(), ": is a class without an image, wanted PNG or JPEG files");
    return files;
}

// The classes of a split that has its own folder; they must be `names` unless those are still unknown.
Decoder::Labelled list_split(const fs::path& directory, std::vector<std::string>& names) {
    Decoder::Labelled files;
    const auto folders = folders_in(directory);
    require(!folders.empty(), directory.string(), ": has no classes, wanted a folder of images for each");
    if (names.empty())
        for (const fs::path& folder : folders) names.push_back(folder.filename().string());
    for (const fs::path& folder : folders) {
        const auto name = std::ranges::find(names, folder.filename().string());
        require(name != names.end(), folder.string(), ": is no class of the training images");
        for (const fs::path& file : images_of_class(folder))
            files.emplace_back(file, static_cast<std::int32_t>(name - names.begin()));
    }
    require(folders.size() == names.size(), directory.string(), ": has ", folders.size(), " classes, wanted the ",
            names.size(), " of the training images");
    return files;
}

// The folder of a split, if the directory has one.
fs::path split_folder(const fs::path& directory, std::initializer_list<const char*> names) {
    std::error_code ignored;
    for (const char* name : names)
        if (fs::is_directory(directory / name, ignored)) return directory / name;
    return {};
}

}  // namespace

ImageSet open_image_folder(const fs::path& directory, std::size_t side) {
    require(side <= Image::longest_side, "side ", side, " is too large for images, wanted at most ",
            Image::longest_side);
    ImageSet set;
    Decoder decoder(set, side);
    Decoder::Labelled train, test;
    const fs::path train_folder = split_folder(directory, {"train"});
    if (!train_folder.empty()) {
        const fs::path test_folder = split_folder(directory, {"test", "val"});
        require(!test_folder.empty(), directory.string(), ": has train but neither test nor val, wanted both");
        train = list_split(train_folder, set.class_names);
        test = list_split(test_folder, set.class_names);
    } else {
        const Decoder::Labelled all = list_split(directory, set.class_names);
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
    const fs::path train = split_folder(directory, {"train"});
    const auto folders = folders_in(train.empty() ? directory : train);
    return !folders.empty() &&
           std::ranges::all_of(folders, [](const fs::path& folder) { return !images_below(folder, 1).empty(); });
}

}  // namespace vkf
