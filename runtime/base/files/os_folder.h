// Open directories, with one interface on POSIX and Windows, the base of base/files/managed_directory.h. The reason of
// a failure is in errno.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/files/os_file.h"

namespace vkf::os {

/// An open directory. Every name is looked up in the directory that was opened, even if its path now leads elsewhere.
/// Links are not followed: they can be seen, renamed and removed as links. A name has one component: "model", never
/// "best/model". Move-only.
///
/// On Windows, names are looked up by the directory's path, and each is tested for a link before it is used.
class Folder {
public:
    enum class Kind { regular, directory, other };

    Folder() = default;
    /// Follows links in the path, which a user named.
    explicit Folder(const std::filesystem::path& path);
    Folder(Folder&& other) noexcept : handle_(std::exchange(other.handle_, -1)), path_(std::move(other.path_)) {}
    Folder& operator=(Folder&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(path_, other.path_);
        return *this;
    }
    ~Folder();

    bool valid() const { return handle_ >= 0; }
    /// Path by which the directory was opened: for messages, and for programs that need a path.
    const std::filesystem::path& path() const { return path_; }

    /// The folder of this name; not valid if there is none, or the name is a link.
    Folder folder(const std::filesystem::path& name) const;
    /// The file of this name, as os::File opens it; not valid if the name is a link.
    File open(const std::filesystem::path& name, Open how) const;
    File locked(const std::filesystem::path& name) const;  // as File::locked
    /// Kind of a name: a link, a device or a pipe is other. Nothing if the name does not exist.
    std::optional<Kind> kind(const std::filesystem::path& name) const;
    /// All names, sorted; nothing on failure.
    std::optional<std::vector<std::filesystem::path>> names() const;

    bool make_folder(const std::filesystem::path& name) const;
    /// Replaces a file or a link that has the new name.
    bool rename(const std::filesystem::path& from, const Folder& to, const std::filesystem::path& name) const;
    /// Gives a file a second name; fails if the name is taken, or the file system has no hard links.
    bool link(const std::filesystem::path& from, const Folder& to, const std::filesystem::path& name) const;
    bool remove(const std::filesystem::path& name) const;
    bool remove_folder(const std::filesystem::path& name) const;
    /// Waits until the names are on disk.
    bool flush() const;

private:
    Folder(int handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}

    int handle_ = -1;
    std::filesystem::path path_;
};

}  // namespace vkf::os
