#include "base/files/os_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "base/files/os_file_posix.h"

namespace vkf::os {

namespace fs = std::filesystem;

namespace {

constexpr int FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

}  // namespace

Folder::Folder(const fs::path& path) : handle_(::open(path.empty() ? "." : path.c_str(), FOLDER)), path_(path) {}

Folder::~Folder() {
    if (handle_ >= 0) ::close(handle_);
}

Folder Folder::folder(const fs::path& name) const {
    return {::openat(handle_, name.c_str(), FOLDER | O_NOFOLLOW), path_ / name};
}

File Folder::open(const fs::path& name, Open how) const {
    return File(::openat(handle_, name.c_str(), flags_of(how) | O_NOFOLLOW, 0666));
}

File Folder::locked(const fs::path& name) const {
    return locked_at(handle_, name.c_str());
}

std::optional<Folder::Kind> Folder::kind(const fs::path& name) const {
    struct stat found = {};
    if (::fstatat(handle_, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    return S_ISREG(found.st_mode) ? Kind::regular : S_ISDIR(found.st_mode) ? Kind::directory : Kind::other;
}

std::optional<std::vector<fs::path>> Folder::names() const {
    const int again = ::openat(handle_, ".", FOLDER);  // a list needs its own position in the directory
    const std::unique_ptr<DIR, int (*)(DIR*)> list(again < 0 ? nullptr : ::fdopendir(again), &::closedir);
    if (!list) {
        if (again >= 0) ::close(again);
        return std::nullopt;
    }
    std::vector<fs::path> names;
    errno = 0;
    while (const dirent* entry = ::readdir(list.get()))
        if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
    if (errno != 0) return std::nullopt;
    std::ranges::sort(names);
    return names;
}

bool Folder::make_folder(const fs::path& name) const {
    return ::mkdirat(handle_, name.c_str(), 0777) == 0;
}

bool Folder::rename(const fs::path& from, const Folder& to, const fs::path& name) const {
    return ::renameat(handle_, from.c_str(), to.handle_, name.c_str()) == 0;
}

bool Folder::link(const fs::path& from, const Folder& to, const fs::path& name) const {
    return ::linkat(handle_, from.c_str(), to.handle_, name.c_str(), 0) == 0;
}

bool Folder::remove(const fs::path& name) const {
    return ::unlinkat(handle_, name.c_str(), 0) == 0;
}

bool Folder::remove_folder(const fs::path& name) const {
    return ::unlinkat(handle_, name.c_str(), AT_REMOVEDIR) == 0;
}

bool Folder::flush() const {
    return ::fsync(handle_) == 0 || errno == EINVAL;  // some file systems have nothing to wait for
}

}  // namespace vkf::os
