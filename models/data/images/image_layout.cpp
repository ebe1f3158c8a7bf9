#include "models/data/images/image_layout.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

// Name of a folder in lower case and without "_set".
std::string plain_name(const fs::path& folder) {
    std::string name = folder.filename().string();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name.ends_with("_set")) name.resize(name.size() - 4);
    return name;
}

// Folder that is a split with the first possible of these names; empty if there is none.
fs::path split_among(const std::vector<fs::path>& folders, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        for (const fs::path& folder : folders)
            if (plain_name(folder) == name && !has_pictures(folder)) return folder;
    return {};
}

}  // namespace

ImageLayout image_layout(const fs::path& directory, PassedOver& passed_over) {
    PassedOver beside;
    const std::vector<fs::path> folders = folders_in(directory, beside);
    const fs::path train = split_among(folders, {"train", "training"});
    if (!train.empty()) {
        const fs::path val = split_among(folders, {"val", "valid", "validation"}),
                       test = split_among(folders, {"test", "testing"});
        for (const fs::path& folder : folders)
            if (folder != train && folder != val && folder != test) ++passed_over[folder.filename().string() + '/'];
        add(passed_over, beside);
        return {true, train, val, test};
    }
    if (folders.size() == 1 && !has_pictures(folders[0])) {
        PassedOver below;
        if (!folders_in(folders[0], below).empty()) {
            add(passed_over, beside);
            return image_layout(folders[0], passed_over);
        }
    }
    return {false, directory, {}, {}};
}

}  // namespace vkf
