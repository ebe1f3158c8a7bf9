#include "models/data/corpus.h"

#include <cstdint>
#include <cstdlib>

namespace vkf {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t TINYSHAKESPEARE_BYTES = 1'115'394;

}  // namespace

std::vector<fs::path> data_folders() {
    std::vector<fs::path> folders = {"data", "../shared/data"};
    const char* named = std::getenv("VKFORMER_DATA");
    if (named && *named) folders.insert(folders.begin(), named);
    return folders;
}

std::optional<fs::path> find_data(const fs::path& name) {
    std::error_code ignored;
    for (const fs::path& folder : data_folders()) {
        if (fs::exists(folder / name, ignored)) return folder / name;
    }
    return std::nullopt;
}

std::optional<fs::path> find_tinyshakespeare() {
    std::error_code ignored;
    for (const fs::path& folder : data_folders()) {
        for (const fs::path& path : {folder / "tinyshakespeare" / "input.txt", folder / "input.txt"}) {
            const bool file = fs::is_regular_file(path, ignored);
            if (file && fs::file_size(path, ignored) == TINYSHAKESPEARE_BYTES) return path;
        }
    }
    return std::nullopt;
}

}  // namespace vkf
