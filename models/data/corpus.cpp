#include "models/data/corpus.h"

#include <cstdlib>
#include <string>
#include <string_view>

namespace vkf {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

void add_absolute(std::vector<fs::path>& folders, const fs::path& base) {
    if (base.is_absolute()) folders.push_back(base / "vkformer");
}

}  // namespace

std::vector<fs::path> data_folders() {
    std::vector<fs::path> folders;
    if (const std::string named = variable("VKFORMER_DATA"); !named.empty()) folders.emplace_back(named);
    folders.emplace_back("data");
    const std::string user = variable("XDG_DATA_HOME"), home = variable("HOME"), dirs = variable("XDG_DATA_DIRS");
    add_absolute(folders, user.empty() ? fs::path(home) / ".local/share" : fs::path(user));
    std::string_view rest = dirs.empty() ? "/usr/local/share:/usr/share" : std::string_view(dirs);
    for (std::size_t end = 0; end != rest.npos; rest.remove_prefix(end == rest.npos ? 0 : end + 1)) {
        end = rest.find(':');
        add_absolute(folders, rest.substr(0, end));
    }
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
