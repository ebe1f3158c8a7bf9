#include "models/data/image_folder.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS (1 << 15)
#include <stb/stb_image.h>

// Two generations of the same library: the newer one where a system has it.
#if __has_include(<stb/stb_image_resize2.h>)
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize2.h>
#define VKFORMER_RESIZE2 1
#else
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#define VKFORMER_RESIZE2 0
#endif

namespace vkf {
namespace fs = std::filesystem;
namespace {

constexpr int CHANNELS = 3;

struct Pixels {
    int width = 0, height = 0;
    std::unique_ptr<stbi_uc, void (*)(void*)> rgb{nullptr, stbi_image_free};  // [height, width, 3]
};

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

// Walks over a JPEG's segments for what stb does not notice: an end before the end-of-image marker, which some versions
// fill with grey, and Huffman tables of more than 256 codes, which some versions write past their own. Returns what is
// wrong, or nothing.
std::string_view jpeg_flaw(std::span<const stbi_uc> bytes) {
    constexpr stbi_uc START = 0xd8, END = 0xd9, TABLES = 0xc4;
    if (bytes.size() < 2 || bytes[0] != 0xff || bytes[1] != START) return {};
    for (std::size_t at = 2; at + 1 < bytes.size();) {
        const stbi_uc marker = bytes[at + 1];
        const bool in_scan = marker == 0 || (marker >= 0xd0 && marker <= 0xd7);  // a stuffed byte, a restart
        if (bytes[at] != 0xff || marker == 0xff || in_scan) {
            ++at;
            continue;
        }
        if (marker == END) return {};
        if (at + 3 >= bytes.size()) break;
        const std::size_t end = at + 2 + bytes[at + 2] * 256u + bytes[at + 3];
        if (end > bytes.size()) break;
        for (std::size_t table = at + 4; marker == TABLES && table + 17 <= end;) {
            std::size_t codes = 0;
            for (std::size_t length = 1; length <= 16; ++length) codes += bytes[table + length];
            if (codes > 256) return "has a Huffman table of more than 256 codes";
            table += 17 + codes;
        }
        at = end;
    }
    return "is cut short";
}

// Why stb refused an image; it may quote bytes of the file.
std::string stb_reason() {
    std::string reason = stbi_failure_reason();
    std::ranges::replace_if(
        reason, [](char c) { return c < ' ' || c > '~'; }, '?');
    return reason;
}

Pixels decode(const fs::path& path) {
    const std::string shown = path.string();
    const MappedFile file(path);
    require(!file.bytes().empty() && file.bytes().size() <= INT_MAX, shown, ": ", file.bytes().size(),
            " bytes, wanted a PNG or JPEG image");
    const auto* bytes = reinterpret_cast<const stbi_uc*>(file.bytes().data());
    const std::string_view flaw = jpeg_flaw({bytes, file.bytes().size()});
    require(flaw.empty(), shown, ": ", flaw, ", wanted a whole JPEG image");
    const int size = static_cast<int>(file.bytes().size());
    Pixels image;
    int found = 0;
    image.rgb.reset(stbi_load_from_memory(bytes, size, &image.width, &image.height, &found, CHANNELS));
    if (!image.rgb) throw InputError(shown, ": is no PNG or JPEG image that can be read (", stb_reason(), ")");
    return image;
}

// The middle square, resized.
Pixels square(const Pixels& image, std::size_t side) {
    const int cut = std::min(image.width, image.height), to = static_cast<int>(side), pitch = image.width * CHANNELS;
    const stbi_uc* from = image.rgb.get() + (image.height - cut) / 2 * pitch + (image.width - cut) / 2 * CHANNELS;
    Pixels result{to, to, {static_cast<stbi_uc*>(std::malloc(side * side * CHANNELS)), std::free}};
#if VKFORMER_RESIZE2
    const bool done = stbir_resize_uint8_linear(from, cut, cut, pitch, result.rgb.get(), to, to, 0, STBIR_RGB);
#else
    const bool done = stbir_resize_uint8(from, cut, cut, pitch, result.rgb.get(), to, to, 0, CHANNELS);
#endif
    if (!done) throw Error("out of memory for an image of ", image.width, 'x', image.height);
    return result;
}

// Decodes the files of one split into one block of bytes.
class Decoder {
public:
    Decoder(ImageSet& set, std::size_t side) : set_(set), wanted_(side) { set_.side = side; }

    using Labelled = std::vector<std::pair<fs::path, std::int32_t>>;

    Images decode_all(const Labelled& files) {
        std::vector<std::uint8_t> bytes;
        for (std::size_t i = 0; i < files.size(); ++i) {
            append_planes(bytes, sized(decode(files[i].first), files[i].first));
            if (i == 0) bytes.reserve(bytes.size() * files.size());
        }
        const std::size_t image_bytes = files.empty() ? 0 : bytes.size() / files.size();
        const std::uint8_t* at = set_.decoded.emplace_back(std::move(bytes)).data();
        Images images(image_bytes);
        for (std::size_t i = 0; i < files.size(); ++i) images.add(at + i * image_bytes, files[i].second);
        return images;
    }

private:
    Pixels sized(Pixels image, const fs::path& path) {
        const bool fits = image.width == image.height && (set_.side == 0 || set_.side == std::size_t(image.width));
        if (!fits && wanted_ > 0) return square(image, wanted_);
        if (set_.side == 0) {
            require(fits, path.string(), ": is ", image.width, 'x', image.height,
                    ", wanted a square, or a side to resize to");
            set_.side = static_cast<std::size_t>(image.width);
            first_ = path;
        }
        require(fits, path.string(), ": is ", image.width, 'x', image.height, ", wanted ", set_.side, 'x', set_.side,
                " as ", first_.string(), ", or a side to resize to");
        return image;
    }

    static void append_planes(std::vector<std::uint8_t>& bytes, const Pixels& image) {
        const std::size_t count = std::size_t(image.width) * std::size_t(image.height);
        for (std::size_t channel = 0; channel < CHANNELS; ++channel)
            for (std::size_t i = 0; i < count; ++i) bytes.push_back(image.rgb.get()[i * CHANNELS + channel]);
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
    require(side <= STBI_MAX_DIMENSIONS, "side ", side, " is too large for images, wanted at most ",
            STBI_MAX_DIMENSIONS);
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
