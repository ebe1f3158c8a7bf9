#include "base/files/managed_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/published.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

using Kind = os::Folder::Kind;

constexpr const char* LOCK = ".lock";

[[noreturn]] void fail_writing(const fs::path& path) {
    throw Error("cannot write ", path.string(), ": ", std::strerror(errno));
}

std::vector<fs::path> names_in(const os::Folder& folder) {
    auto names = folder.names();
    if (!names) throw Error("cannot list ", folder.path().string(), ": ", std::strerror(errno));
    return *std::move(names);
}

/// Folder of a name that belongs to this program; not valid if there is none.
os::Folder own_folder(const os::Folder& folder, const fs::path& name) {
    os::Folder found = folder.folder(name);
    require(found.valid() || errno == ENOENT, (folder.path() / name).string(),
            ": is no folder that can be opened, and no link is followed there: wanted none, or a folder");
    return found;
}

/// Removes a folder with everything in it; a link is removed as a link.
void remove_all(const os::Folder& parent, const fs::path& name) {
    {
        const os::Folder folder = own_folder(parent, name);
        if (!folder.valid()) return;
        for (const fs::path& inner : names_in(folder)) {
            if (folder.kind(inner) == Kind::directory)
                remove_all(folder, inner);
            else if (!folder.remove(inner) && errno != ENOENT)
                throw Error("cannot remove ", (folder.path() / inner).string(), ": ", std::strerror(errno));
        }
    }
    if (!parent.remove_folder(name))
        throw Error("cannot remove ", (parent.path() / name).string(), ": ", std::strerror(errno));
}

os::Folder make_folder(const os::Folder& parent, const fs::path& name) {
    if (!parent.make_folder(name) && errno != EEXIST)
        throw Error("cannot make directory ", (parent.path() / name).string(), ": ", std::strerror(errno));
    return own_folder(parent, name);
}

/// Flushes all files of a folder to disk; throws if one is not a plain file.
void flush_files(const os::Folder& folder) {
    for (const fs::path& name : names_in(folder)) {
        const fs::path shown = folder.path() / name;
        if (folder.kind(name) != Kind::regular)
            throw Error("cannot write ", shown.string(), ": a folder is in the way");
        if (!os::flush(shown)) fail_writing(shown);
    }
    if (!folder.flush()) fail_writing(folder.path());
}

/// Throws if a folder has the name of a file of a set.
void require_places(const os::Folder& directory, std::span<const fs::path> names) {
    for (const fs::path& name : names)
        if (directory.kind(name) == Kind::directory)
            throw Error("cannot write ", (directory.path() / name).string(), ": a folder is in the way");
}

void remove_obsolete(const os::Folder& directory, const os::Folder& set) {
    for (const fs::path& name : obsolete_names(set.open(obsolete_list, os::Open::read_at_once))) {
        const fs::path inner = name.parent_path(), file = name.filename();
        // The list may be from a directory of another origin: it must reach nothing outside.
        const auto single = [](const fs::path& part) { return part == part.filename() && part != ".." && part != "."; };
        const bool plain = single(inner) && single(file) && !file.empty() && directory.kind(inner) != Kind::other;
        require(plain, (set.path() / obsolete_list).string(), ": '", name.string(), "' lies outside the directory");
        const os::Folder below = inner.empty() ? os::Folder() : directory.folder(inner);
        if (!inner.empty() && !below.valid()) continue;  // removed already
        const os::Folder& place = inner.empty() ? directory : below;
        if (!place.remove(file) && errno != ENOENT && errno != EISDIR && errno != EPERM)
            throw Error("cannot remove ", (directory.path() / name).string(),
                        ", which a save replaces: ", std::strerror(errno));
        if (!inner.empty()) directory.remove_folder(inner);  // if it is empty now
    }
}

/// Writes a set into the folder .saving and makes it valid under the name `to` of `parent`.
void fill_set(const os::Folder& parent, const ManagedDirectory::Fill& fill,
              const std::function<void(const os::Folder& set)>& complete, const char* to) {
    remove_all(parent, saving_folder);  // left by a crash
    try {
        {
            const os::Folder saving = make_folder(parent, saving_folder);
            fill(saving.path());
            complete(saving);
            flush_files(saving);
        }
        if (!parent.rename(saving_folder, parent, to)) fail_writing(parent.path() / to);
    } catch (...) {
        try {
            remove_all(parent, saving_folder);
        } catch (const Error&) {
            // The first failure is the one to report.
        }
        throw;
    }
    if (!parent.flush()) fail_writing(parent.path());
}

void settle_set(const os::Folder& directory) {
    {
        const os::Folder set = own_folder(directory, saved_folder);
        if (!set.valid()) return;
        const std::vector<fs::path> names = names_in(set);
        for (const fs::path& name : names) {
            require(set.kind(name) == Kind::regular, (set.path() / name).string(),
                    ": is no regular file, wanted none or one that a save wrote");
        }
        require_places(directory, names);
        remove_obsolete(directory, set);
        for (const fs::path& name : names)
            if (name != obsolete_list && !set.rename(name, directory, name))
                throw Error("cannot finish the save of ", (directory.path() / name).string(), ": ",
                            std::strerror(errno));
        if (!directory.flush()) fail_writing(directory.path());  // moves are on disk before their record is removed
        set.remove(obsolete_list);
    }
    if (!directory.remove_folder(saved_folder))
        throw Error("cannot finish the save in ", directory.path().string(), ": ", std::strerror(errno));
    if (!directory.flush()) fail_writing(directory.path());
}

void publish_set(const os::Folder& directory, const ManagedDirectory::Fill& fill, std::span<const fs::path> obsolete) {
    settle_set(directory);
    const auto complete = [&](const os::Folder& set) {
        std::string leaving;
        require_places(directory, names_in(set));
        for (const fs::path& name : obsolete)
            if (name.has_parent_path() || !set.kind(name)) leaving += name.string() + "\n";
        if (!leaving.empty()) write_atomically(set.path() / obsolete_list, leaving);
    };
    fill_set(directory, fill, complete, saved_folder);
    settle_set(directory);
}

}  // namespace

ManagedDirectory ManagedDirectory::claim(const fs::path& path) {
    std::error_code error;
    const bool made = fs::create_directories(path, error);
    if (error) throw Error("cannot make directory ", path.string(), ": ", error.message());
    ManagedDirectory claimed(os::Folder(path), made);
    if (!claimed.folder_.valid()) throw Error("cannot open directory ", path.string(), ": ", std::strerror(errno));
    claimed.lock_ = claimed.folder_.locked(LOCK);
    if (claimed.lock_.valid()) return claimed;
    if (errno == EWOULDBLOCK) throw Error(path.string(), " is in use by another process");
    require(errno != ELOOP && errno != EEXIST, (path / LOCK).string(), ": is no regular file, wanted none");
    throw Error("cannot make ", (path / LOCK).string(), ": ", std::strerror(errno));
}

ManagedDirectory::~ManagedDirectory() {
    if (!folder_.valid() || !lock_.valid()) return;
    folder_.remove(LOCK);
    lock_.close();  // Windows removes the file only now
    std::error_code ignored;
    if (made_) fs::remove(folder_.path(), ignored);  // only if it is empty
}

void ManagedDirectory::publish(const Fill& fill, std::span<const fs::path> obsolete) {
    publish_set(folder_, fill, obsolete);
}

void ManagedDirectory::publish_in(const fs::path& name, const Fill& fill) {
    const bool fresh = !folder_.kind(name);
    try {
        publish_set(make_folder(folder_, name), fill, {});
    } catch (...) {
        if (fresh) folder_.remove_folder(name);  // if it is empty
        throw;
    }
}

void ManagedDirectory::publish_folder(const fs::path& name, const Fill& fill) {
    fill_set(
        folder_, fill, [](const os::Folder&) {}, name.string().c_str());
}

void ManagedDirectory::settle() {
    settle_set(folder_);
}

void ManagedDirectory::settle_in(const fs::path& name) {
    if (const os::Folder folder = own_folder(folder_, name); folder.valid()) settle_set(folder);
}

void ManagedDirectory::replace(const fs::path& name, std::string_view text) {
    publish([&](const fs::path& folder) { write_atomically(folder / name, text); });
}

}  // namespace vkf
