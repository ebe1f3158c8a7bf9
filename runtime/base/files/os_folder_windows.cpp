// Uses paths: each name is tested for a reparse point (a link, a junction) before it is used.
#include "base/files/os_folder.h"

#include "base/text/windows_text.h"

#include <algorithm>
#include <cerrno>

namespace vkf::os {

namespace fs = std::filesystem;

namespace {

constexpr int OPENED = 0;  // no handle is kept

bool fail(std::error_code error) {
    const std::error_condition reason = error.default_error_condition();
    errno = reason.category() == std::generic_category() ? reason.value() : EIO;
    return false;
}

}  // namespace

Folder::Folder(const fs::path& path) : path_(path) {
    std::error_code error;
    if (fs::is_directory(path.empty() ? fs::path(".") : path, error))
        handle_ = OPENED;
    else
        errno = fs::exists(path, error) ? ENOTDIR : ENOENT;
}

Folder::~Folder() = default;

std::optional<Folder::Kind> Folder::kind(const fs::path& name) const {
    const DWORD attributes = ::GetFileAttributesW((path_ / name).c_str());
    if (attributes == INVALID_FILE_ATTRIBUTES) {
        errno = ENOENT;
        return std::nullopt;
    }
    if (attributes & FILE_ATTRIBUTE_REPARSE_POINT) return Kind::other;
    return attributes & FILE_ATTRIBUTE_DIRECTORY ? Kind::directory : Kind::regular;
}

Folder Folder::folder(const fs::path& name) const {
    const auto found = kind(name);
    if (found == Kind::directory) return {OPENED, path_ / name};
    if (found) errno = ENOTDIR;
    return {};
}

File Folder::open(const fs::path& name, Open how) const {
    if (kind(name) == Kind::other) {
        errno = ELOOP;
        return {};
    }
    return File(path_ / name, how);
}

File Folder::locked(const fs::path& name) const {
    return File::locked(path_ / name);
}

std::optional<std::vector<fs::path>> Folder::names() const {
    std::error_code error;
    std::vector<fs::path> names;
    for (fs::directory_iterator entry(path_.empty() ? fs::path(".") : path_, error), end; !error && entry != end;
         entry.increment(error))
        names.push_back(entry->path().filename());
    if (error) {
        fail(error);
        return std::nullopt;
    }
    std::ranges::sort(names);
    return names;
}

bool Folder::make_folder(const fs::path& name) const {
    std::error_code error;
    if (fs::create_directory(path_ / name, error)) return true;
    if (error) return fail(error);
    errno = EEXIST;
    return false;
}

bool Folder::rename(const fs::path& from, const Folder& to, const fs::path& name) const {
    std::error_code error;
    fs::rename(path_ / from, to.path_ / name, error);
    return !error || fail(error);
}

bool Folder::link(const fs::path& from, const Folder& to, const fs::path& name) const {
    std::error_code error;
    fs::create_hard_link(path_ / from, to.path_ / name, error);
    return !error || fail(error);
}

bool Folder::remove(const fs::path& name) const {
    if (::DeleteFileW((path_ / name).c_str())) return true;
    if (kind(name) == Kind::other && ::RemoveDirectoryW((path_ / name).c_str())) return true;  // a link to a folder
    errno = kind(name) ? EACCES : ENOENT;
    return false;
}

bool Folder::remove_folder(const fs::path& name) const {
    if (::RemoveDirectoryW((path_ / name).c_str())) return true;
    errno = !kind(name) ? ENOENT : ::GetLastError() == ERROR_DIR_NOT_EMPTY ? ENOTEMPTY : EACCES;
    return false;
}

bool Folder::flush() const {
    return true;  // the file system keeps a journal of names
}

}  // namespace vkf::os
