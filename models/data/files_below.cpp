#include "models/data/files_below.h"

#include <algorithm>

#include "base/error.h"

namespace vkf {

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const fs::path& directory) {
    std::vector<fs::path> files;
    std::error_code error;
    fs::recursive_directory_iterator entry(directory, error);
    for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
        const bool hidden = entry->path().filename().string().starts_with('.');
        std::error_code ignored;  // a broken link is no file
        if (hidden && entry->is_directory(ignored)) entry.disable_recursion_pending();
        if (!hidden && entry->is_regular_file(ignored)) files.push_back(entry->path());
    }
    require(!error, "cannot read ", directory.string(), ": ", error.message());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace vkf
