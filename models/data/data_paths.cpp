#include "models/data/data_paths.h"

#include "base/os/os.h"

namespace vkf {
namespace fs = std::filesystem;

std::vector<fs::path> data_folders() {
    std::vector<fs::path> folders;
    if (const auto named = os::environment("VKFORMER_DATA"); named && !named->empty()) folders.emplace_back(*named);
    folders.emplace_back("data");
    for (const fs::path& folder : os::data_folders()) folders.push_back(folder / "vkformer");
    return folders;
}

std::optional<fs::path> find_data(const fs::path& name) {
    std::error_code ignored;
    for (const fs::path& folder : data_folders()) {
        if (fs::exists(folder / name, ignored)) return folder / name;
    }
    return std::nullopt;
}

}  // namespace vkf
