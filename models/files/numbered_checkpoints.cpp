#include "models/files/numbered_checkpoints.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "models/files/adapter_files.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view PREFIX = "checkpoint-";

/// The STEP of a folder's name; nothing for other names.
std::optional<std::int64_t> step_of(const std::string& name) {
    if (!name.starts_with(PREFIX)) return {};
    std::int64_t step = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + PREFIX.size(), end, step);
    const bool written_so = error == std::errc() && rest == end && name == text(PREFIX, step);
    return written_so ? std::optional(step) : std::nullopt;
}

void link_or_copy(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::create_hard_link(from, to, error);
    if (error) fs::copy_file(from, to, error);
    if (error) throw Error("cannot write ", to.string(), ": ", error.message());
}

/// What makes it a model goes first: a checkpoint that is half removed is none.
void remove_checkpoint(const fs::path& checkpoint, const std::vector<fs::path>& files) {
    std::error_code error;
    if (fs::exists(checkpoint / "metrics.jsonl", error)) return;  // a run of its own by now
    settle_files(checkpoint);
    fs::remove_all(checkpoint / ".saving", error);  // what a kill left
    for (const char* config : {"config.json", adapter_config_file})
        if (!error) fs::remove(checkpoint / config, error);
    for (const fs::path& file : files) {
        if (!error) fs::remove(checkpoint / file, error);
        if (error) throw Error("cannot remove ", (checkpoint / file).string(), ": ", error.message());
    }
    fs::remove(checkpoint, error);  // unless somebody else put something there
}

}  // namespace

std::vector<fs::path> numbered_checkpoints(const fs::path& directory) {
    std::vector<std::pair<std::int64_t, fs::path>> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored))
        if (const auto step = step_of(entry.path().filename().string());
            step && fs::is_directory(entry.symlink_status(ignored)))
            found.emplace_back(*step, entry.path());
    std::ranges::sort(found);
    std::vector<fs::path> paths;
    for (auto& [step, path] : found) paths.push_back(std::move(path));
    return paths;
}

void keep_numbered(const fs::path& directory, const std::vector<fs::path>& files, std::int64_t step,
                   std::int64_t limit) {
    publish_files(directory / text(PREFIX, step), [&](const fs::path& folder) {
        for (const fs::path& file : files) link_or_copy(directory / file, folder / file);
    });
    const std::vector<fs::path> kept = numbered_checkpoints(directory);
    for (std::int64_t i = 0; i < std::ssize(kept) - limit; ++i)
        remove_checkpoint(kept[static_cast<std::size_t>(i)], files);
}

}  // namespace vkf
