#include "models/files/numbered_checkpoints.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view PREFIX = "checkpoint-";
constexpr std::string_view REMOVED = ".removed-";  // followed by the name of a checkpoint whose files are being removed

/// STEP of a folder's name; nothing for other names.
std::optional<std::int64_t> step_of(const std::string& name) {
    if (!name.starts_with(PREFIX)) return {};
    std::int64_t step = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + PREFIX.size(), end, step);
    const bool written_so = error == std::errc() && rest == end && name == text(PREFIX, step);
    return written_so ? std::optional(step) : std::nullopt;
}

void link_or_copy(const ManagedDirectory& from, const fs::path& name, const os::Folder& to) {
    if (from.folder().link(name, to, name)) return;
    std::error_code error;
    fs::copy_file(from.path() / name, to.path() / name, error);
    if (error) throw Error("cannot write ", (to.path() / name).string(), ": ", error.message());
}

void remove_file(const os::Folder& folder, const fs::path& name) {
    if (!folder.remove(name) && errno != ENOENT)
        throw Error("cannot remove ", (folder.path() / name).string(), ": ", std::strerror(errno));
}

/// Manifest of a folder that the run wrote; nothing for other folders.
std::optional<Manifest> own_manifest(const os::Folder& folder, const std::string& run) try {
    if (!folder.valid() || folder.kind("metrics.jsonl")) return {};  // by now a separate run
    std::optional<Manifest> manifest = read_manifest(folder);
    return manifest && manifest->run == run ? manifest : std::nullopt;
} catch (const InputError&) {
    return {};  // not written by this run
}

/// A checkpoint of the run with all of its files.
struct Checkpoint {
    fs::path name;
    Manifest manifest;
};

std::vector<Checkpoint> own_checkpoints(const ManagedDirectory& directory, const std::string& run) {
    std::vector<Checkpoint> own;
    for (const fs::path& path : numbered_checkpoints(directory.path())) {
        const os::Folder folder = directory.folder().folder(path.filename());
        auto manifest = own_manifest(folder, run);
        if (!manifest || step_of(path.filename().string()) != manifest->step) continue;
        const auto there = [&](const auto& file) { return folder.kind(file.first) == os::Folder::Kind::regular; };
        if (std::ranges::all_of(manifest->files, there)) own.push_back({path.filename(), *std::move(manifest)});
    }
    return own;
}

/// Removes the manifest last: until then, the next removal of checkpoints can continue.
void remove_files(const os::Folder& parent, const fs::path& name, const Manifest& manifest) {
    {
        const os::Folder folder = parent.folder(name);
        for (const fs::path& file : manifest.names()) remove_file(folder, file);
    }
    parent.remove_folder(name);
}

/// Removes a checkpoint at one moment, unless its folder has files of other origin, which stay.
void remove_checkpoint(const os::Folder& parent, const Checkpoint& checkpoint) {
    {
        const os::Folder folder = parent.folder(checkpoint.name);
        const std::vector<fs::path> own = checkpoint.manifest.names();
        const auto is_own = [&](const fs::path& name) { return std::ranges::count(own, name) > 0; };
        const auto names = folder.names();
        if (!names || !std::ranges::all_of(*names, is_own)) {
            remove_file(folder, manifest_file);  // from here on it is no checkpoint of the run
            for (const fs::path& file : own) remove_file(folder, file);
            return;
        }
    }
    const fs::path removed = text(REMOVED, checkpoint.name.string());
    if (!parent.rename(checkpoint.name, parent, removed))
        throw Error("cannot remove ", (parent.path() / checkpoint.name).string(), ": ", std::strerror(errno));
    remove_files(parent, removed, checkpoint.manifest);
}

/// Removes the rest of folders whose removal was cut short.
void finish_removals(const os::Folder& parent, const std::string& run) {
    for (const fs::path& name : parent.names().value_or(std::vector<fs::path>())) {
        if (!name.string().starts_with(text(REMOVED, PREFIX))) continue;
        if (const auto manifest = own_manifest(parent.folder(name), run))
            remove_files(parent, name, *manifest);
        else
            parent.remove_folder(name);  // if it is empty
    }
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

std::string numbered_name(std::int64_t step) {
    return text(PREFIX, step);
}

bool keep_numbered(ManagedDirectory& run, const Manifest& manifest, std::int64_t limit) {
    finish_removals(run.folder(), manifest.run);
    const fs::path name = numbered_name(manifest.step);
    std::optional<Manifest> earlier;
    if (run.folder().kind(name)) {  // from an earlier pass over the same step
        earlier = own_manifest(run.folder().folder(name), manifest.run);
        if (!earlier) return false;
    }
    if (earlier && *earlier != manifest) {
        remove_checkpoint(run.folder(), {name, *earlier});
        if (run.folder().kind(name)) return false;  // files of other origin are there
    }
    if (earlier != manifest) {
        run.publish_folder(name, [&](const fs::path& path) {
            const os::Folder folder(path);
            for (const fs::path& file : manifest.names()) link_or_copy(run, file, folder);
        });
    }
    const std::vector<Checkpoint> kept = own_checkpoints(run, manifest.run);
    for (std::int64_t i = 0; i < std::ssize(kept) - limit; ++i)
        remove_checkpoint(run.folder(), kept[static_cast<std::size_t>(i)]);
    return true;
}

}  // namespace vkf
