#include "base/files/published.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/files/os_folder.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

using Kind = os::Folder::Kind;

/// The folder of a set that waits in the directory, or none.
os::Folder waiting_set(const fs::path& directory) {
    std::error_code ignored;  // one system call for most directories
    const fs::file_type type = fs::symlink_status(directory / saved_folder, ignored).type();
    return type == fs::file_type::directory ? os::Folder(directory).folder(saved_folder) : os::Folder();
}

std::vector<fs::path> gone_with(const os::Folder& set) {
    return obsolete_names(set.open(obsolete_list, os::Open::read_at_once));
}

bool goes(const os::Folder& set, const fs::path& name) {
    return std::ranges::count(gone_with(set), name) > 0;
}

}  // namespace

std::vector<fs::path> obsolete_names(const os::File& list) {
    constexpr std::size_t most = 1 << 20;
    const auto status = list.valid() ? os::status(list.descriptor()) : std::nullopt;
    if (!status || status->kind != os::FileStatus::Kind::regular || status->size > most) return {};
    std::string content;
    std::vector<char> chunk(1 << 12);
    while (const auto count = os::read(list.descriptor(), chunk)) {
        content.append(chunk.data(), *count);
        if (*count == 0 || content.size() > most) break;
    }
    std::vector<fs::path> names;
    std::istringstream lines(content);
    for (std::string name; std::getline(lines, name);) names.emplace_back(name);
    return names;
}

fs::path published(const fs::path& path) {
    const fs::path directory = folder_of(path), name = path.filename();
    if (const os::Folder set = waiting_set(directory); set.valid())
        if (set.kind(name) == Kind::regular || goes(set, name)) return directory / saved_folder / name;
    const fs::path above = folder_of(directory), folder = directory.filename();  // e.g. best/config.json of a run
    if (folder.empty() || folder == "." || folder == "..") return path;
    if (const os::Folder set = waiting_set(above); set.valid() && goes(set, folder / name))
        return above / saved_folder / folder / name;
    return path;
}

os::File open_published(const fs::path& path, os::Open how) {
    constexpr int most = 16;  // a publication may move the file between two looks
    fs::path place = published(path);
    for (int look = 1;; ++look) {
        os::File file(place, how);
        if (file.valid() || errno != ENOENT || look == most) return file;
        fs::path again = published(path);
        if (again == place && place == path) {
            errno = ENOENT;
            return file;
        }
        place = std::move(again);
    }
}

bool file_exists(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(published(path), ignored) || fs::exists(published(path), ignored);  // moved between the calls
}

std::vector<fs::path> published_names(const fs::path& directory) {
    std::set<fs::path> names;
    const os::Folder set = waiting_set(directory);
    const std::vector<fs::path> gone = set.valid() ? gone_with(set) : std::vector<fs::path>();
    if (set.valid())
        for (const fs::path& name : set.names().value_or(std::vector<fs::path>()))
            if (name != obsolete_list && set.kind(name) == Kind::regular) names.insert(name);
    std::error_code ignored;
    for (fs::directory_iterator entry(directory, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
        const fs::path name = entry->path().filename();
        std::error_code broken;
        if (entry->is_regular_file(broken) && std::ranges::count(gone, name) == 0) names.insert(name);
    }
    return {names.begin(), names.end()};
}

}  // namespace vkf
