#include "models/data/images/picture_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 6> ENDINGS{".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".webp"};
constexpr std::string_view LINK_ABOVE = "link to a folder above", NO_FILE = "broken link or device";

std::string ending_of(const fs::path& path) {
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending;
}

// Entries of a folder in the order of their names, without hidden ones.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
    std::vector<fs::directory_entry> entries;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (!entry->path().filename().string().starts_with('.')) entries.push_back(*entry);
    require(!error, "cannot read ", folder.string(), ": ", error.message());
    std::ranges::sort(entries);
    return entries;
}

// The only path of a folder without links; empty if there is none, and then the folder cannot be read either.
fs::path real(const fs::path& folder) {
    std::error_code ignored;
    return fs::canonical(folder, ignored);
}

// Both paths are real.
bool is_at_or_above(const fs::path& folder, const fs::path& other) {
    return std::mismatch(folder.begin(), folder.end(), other.begin(), other.end()).first == folder.end();
}

bool is_folder(const fs::directory_entry& entry) {
    std::error_code ignored;  // a broken link is no folder
    return entry.is_directory(ignored);
}

class Search {
public:
    Search(const fs::path& root, PassedOver& passed_over, std::size_t most)
        : root_(real(root)), passed_over_(passed_over), most_(most) {}

    void walk(const fs::path& folder) {
        if (!entered_.insert(real(folder)).second) return;
        for (const fs::directory_entry& entry : entries_of(folder)) {
            if (files_.size() >= most_) return;
            if (!is_folder(entry))
                take(entry);
            else if (entry.is_symlink() && is_at_or_above(real(entry.path()), root_))
                ++passed_over_[std::string(LINK_ABOVE)];
            else
                walk(entry.path());
        }
    }

    std::vector<fs::path> files() && { return std::move(files_); }

private:
    void take(const fs::directory_entry& entry) {
        std::error_code ignored;
        const std::string ending = ending_of(entry.path());
        if (!entry.is_regular_file(ignored))
            ++passed_over_[std::string(NO_FILE)];
        else if (is_picture_name(entry.path()))
            files_.push_back(entry.path());
        else
            ++passed_over_[ending.empty() ? "without an ending" : ending];
    }

    fs::path root_;
    PassedOver& passed_over_;
    std::size_t most_;
    std::set<fs::path> entered_;
    std::vector<fs::path> files_;
};

}  // namespace

void add(PassedOver& passed_over, const PassedOver& more) {
    for (const auto& [kind, count] : more) passed_over[kind] += count;
}

std::string passed_over_text(const PassedOver& passed_over) {
    constexpr std::size_t SHOWN = 6;
    std::vector<std::pair<std::string, std::size_t>> kinds(passed_over.begin(), passed_over.end());
    std::ranges::stable_sort(kinds, std::ranges::greater(), &std::pair<std::string, std::size_t>::second);
    std::string list;
    std::size_t count = 0, others = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        count += kinds[i].second;
        if (i < SHOWN)
            list += text(i > 0 ? ", " : "", kinds[i].second, ' ', kinds[i].first);
        else
            others += kinds[i].second;
    }
    if (others > 0) list += text(", ", others, " others");
    return count == 0 ? "" : text(count, count == 1 ? " file (" : " files (", list, ')');
}

bool is_picture_name(const fs::path& path) {
    return std::ranges::find(ENDINGS, ending_of(path)) != ENDINGS.end();
}

std::vector<fs::path> picture_files(const fs::path& folder, PassedOver& passed_over, std::size_t most) {
    Search search(folder, passed_over, most);
    search.walk(folder);
    return std::move(search).files();
}

std::vector<fs::path> folders_in(const fs::path& directory, PassedOver& passed_over) {
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : entries_of(directory)) {
        if (is_folder(entry) && entry.is_symlink() && is_at_or_above(real(entry.path()), real(directory)))
            ++passed_over[std::string(LINK_ABOVE)];
        else if (is_folder(entry))
            folders.push_back(entry.path());
        else if (is_picture_name(entry.path()))
            ++passed_over[ending_of(entry.path()) + " beside the folders of classes"];
    }
    return folders;
}

bool has_pictures(const fs::path& folder) {
    return std::ranges::any_of(entries_of(folder), [](const fs::directory_entry& entry) {
        return is_picture_name(entry.path()) && !is_folder(entry);
    });
}

}  // namespace vkf
