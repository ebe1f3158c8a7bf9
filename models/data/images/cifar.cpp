#include "models/data/images/cifar.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "models/data/images/md5.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

constexpr CifarFile CIFAR10_FILES[] = {
    {"data_batch_1.bin", true, 10000, "5dd7e06a14cb22eb9f671a540d1b7c25"},
    {"data_batch_2.bin", true, 10000, "5ea93a67294ea407fff1d09f752e9692"},
    {"data_batch_3.bin", true, 10000, "942cd6a4bcdd0dd3c604fbe906cb4421"},
    {"data_batch_4.bin", true, 10000, "ae636b3ba5c66a11e91e8cb52e771fcb"},
    {"data_batch_5.bin", true, 10000, "53f37980c15c3d472c316c40844f3f0d"},
    {"test_batch.bin", false, 10000, "803d5f7f4d78ea53de84dbe85f74fb6d"},
};

constexpr CifarFile CIFAR100_FILES[] = {
    {"train.bin", true, 50000, ""},
    {"test.bin", false, 10000, ""},
};

// Reads the lines of a file of class names, without spaces around them and without empty lines.
std::vector<std::string> read_names(const fs::path& path) {
    const std::string content = read_small_text(path);
    std::vector<std::string> names;
    for (std::size_t at = 0; at < content.size();) {
        const std::size_t end = std::min(content.find('\n', at), content.size());
        const std::string line = content.substr(at, end - at);
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first != std::string::npos) names.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
        at = end + 1;
    }
    require(!names.empty(), path.string(), ": names no classes, wanted one per line");
    require(names.size() <= 256, path.string(), ": names ", names.size(), " classes, a label's byte has room for 256");
    return names;
}

std::vector<std::string> class_names(const CifarFormat& format, const fs::path& directory, bool coarse) {
    const fs::path file = directory / (coarse ? format.coarse_names : format.names);
    if (file_exists(file)) return read_names(file);
    if (&format == &CIFAR10) return {CIFAR10_NAMES.begin(), CIFAR10_NAMES.end()};
    std::vector<std::string> numbers;
    for (std::size_t i = 0; i < (coarse ? format.coarse_classes : format.classes); ++i)
        numbers.push_back(std::to_string(i));
    return numbers;
}

void require_there(const fs::path& path, const CifarFormat& format) {
    if (file_exists(path)) return;
    const bool packed = file_exists(path.string() + ".xz");
    throw InputError(path.string(), ": is missing", packed ? ", only its .xz is there" : "", ", wanted ",
                     format.files.front().name, " to ", format.files.back().name, packed ? " unpacked" : "");
}

void add_records(const MappedFile& file, const CifarFormat& format, std::size_t label_at, std::size_t classes,
                 Images& images) {
    const std::string shown = file.path().string();
    const auto bytes = file.bytes();
    const std::size_t record_bytes = format.record_bytes();
    require(!bytes.empty(), shown, ": is empty, wanted records of ", record_bytes, " bytes");
    require(bytes.size() % record_bytes == 0, shown, ": ", bytes.size(), " bytes, wanted whole records of ",
            record_bytes, " bytes");
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    for (std::size_t i = 0; i < bytes.size() / record_bytes; ++i) {
        const std::uint8_t* record = data + i * record_bytes;
        const std::int32_t label = record[label_at];
        require(record[label_at] < classes, shown, ": image ", i, " has label ", label, ", wanted 0 to ", classes - 1);
        images.add(record + format.label_bytes, label);
    }
}

}  // namespace

const CifarFormat CIFAR10 = {.title = "CIFAR-10",
                             .name = "cifar10",
                             .folder = "cifar-10-batches-bin",
                             .archive = "cifar-10-binary.tar.gz",
                             .archive_md5 = "c32a1d4ab5d03f1284b67883e8d87530",
                             .archive_bytes = 170'052'171,
                             .files = CIFAR10_FILES,
                             .label_bytes = 1,
                             .names = "batches.meta.txt",
                             .coarse_names = {},
                             .classes = 10,
                             .coarse_classes = 0};

const CifarFormat CIFAR100 = {.title = "CIFAR-100",
                              .name = "cifar100",
                              .folder = "cifar-100-binary",
                              .archive = "cifar-100-binary.tar.gz",
                              .archive_md5 = "03b5dce01913d631647c71ecec9e9cb8",
                              .archive_bytes = 168'513'733,
                              .files = CIFAR100_FILES,
                              .label_bytes = 2,
                              .names = "fine_label_names.txt",
                              .coarse_names = "coarse_label_names.txt",
                              .classes = 100,
                              .coarse_classes = 20};

const std::array<std::string_view, 10> CIFAR10_NAMES = {"airplane", "automobile", "bird",  "cat",  "deer",
                                                        "dog",      "frog",       "horse", "ship", "truck"};

ImageSet open_cifar(const CifarFormat& format, const fs::path& directory, bool coarse) {
    require(!coarse || format.coarse_classes > 0, directory.string(), ": ", format.title, " has no coarse labels");
    ImageSet set;
    set.side = CIFAR_SIDE;
    set.class_names = class_names(format, directory, coarse);
    set.train = set.test = Images(CIFAR_SIDE);
    const std::size_t label_at = coarse ? 0 : format.label_bytes - 1;
    for (const CifarFile& file : format.files) {
        require_there(directory / file.name, format);
        const MappedFile& mapped = set.files.emplace_back(directory / file.name);
        add_records(mapped, format, label_at, set.classes(), file.training ? set.train : set.test);
    }
    return set;
}

void verify_cifar_file(const CifarFile& file, const CifarFormat& format, const fs::path& path, const fs::path& shown,
                       const GoOn& go_on) {
    std::error_code error;
    const std::size_t wanted = file.records * format.record_bytes();
    const std::uintmax_t bytes = fs::file_size(path, error);
    require(!error, shown.string(), ": ", error.message(), ", wanted ", format.title, "'s ", file.name);
    require(bytes == wanted, shown.string(), ": ", bytes, " bytes, wanted ", format.title, "'s ", wanted);
    if (file.md5.empty()) return;
    const std::string md5 = md5_of(path, go_on);
    require(md5 == file.md5, shown.string(), ": md5 is ", md5, ", wanted ", format.title, "'s ", file.md5);
}

void verify_balance(const ImageSet& images, const fs::path& shown) {
    const auto verify = [&](const Images& split, const char* kind) {
        const auto counts = split.per_class(images.classes());
        for (std::size_t i = 0; i < counts.size(); ++i)
            require(counts[i] * counts.size() == split.size(), shown.string(), ": class '", images.class_names[i],
                    "' has ", counts[i], " ", kind, " images, wanted ",
                    static_cast<double>(split.size()) / static_cast<double>(counts.size()));
    };
    verify(images.train, "training");
    verify(images.test, "test");
}

}  // namespace vkf
