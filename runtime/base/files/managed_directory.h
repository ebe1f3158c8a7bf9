// Directories into which this program writes: runs, models, data.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/files/os_folder.h"

namespace vkf {

/// A directory into which only this process publishes files, as long as the object lives. It is opened once; links
/// inside are not followed, so that nothing outside is read, changed or removed, whatever the directory contains. Only
/// the path itself, which a user named, may contain links. Move-only.
///
/// The lock is the file .lock, which is removed with the object.
class ManagedDirectory {
public:
    /// Opens the directory. A missing directory is made, and is removed in the end if it is still empty.
    /// Throws: Error if another process writes there, or it cannot be made; InputError if .lock is no file.
    static ManagedDirectory claim(const std::filesystem::path& path);

    ManagedDirectory(ManagedDirectory&&) = default;
    ManagedDirectory& operator=(ManagedDirectory&& other) noexcept {
        std::swap(folder_, other.folder_);
        std::swap(lock_, other.lock_);
        std::swap(made_, other.made_);
        return *this;
    }
    ~ManagedDirectory();

    const std::filesystem::path& path() const { return folder_.path(); }
    /// The open directory, for operations other than publishing.
    const os::Folder& folder() const { return folder_; }

    /// Puts several files into the directory so that a crash at any moment leaves all old or all new.
    ///
    /// `fill` writes plain files into the folder that it is given. When they are on disk, the folder is renamed: at
    /// this moment the set becomes valid (base/files/published.h). Then each file is renamed into place. Other files
    /// stay as they are, except the `obsolete` ones, named relative to the directory, which disappear at the same
    /// moment.
    ///
    /// A failure before this moment leaves all files old; after it the set is valid, and the next settle or publish
    /// finishes it.
    /// Throws: Error naming path and reason; InputError if a name that a save needs is a link; exceptions of `fill`.
    using Fill = std::function<void(const std::filesystem::path& folder)>;
    void publish(const Fill& fill, std::span<const std::filesystem::path> obsolete = {});
    /// Publishes into the folder of this name inside the directory, which is made if it is missing.
    void publish_in(const std::filesystem::path& name, const Fill& fill);
    /// Puts files into a new folder of this name, which appears with all of them at once.
    void publish_folder(const std::filesystem::path& name, const Fill& fill);

    /// Finishes a publication that was cut short, here or in the folder of this name.
    void settle();
    void settle_in(const std::filesystem::path& name);

    /// Replaces a file by this text, atomically.
    void replace(const std::filesystem::path& name, std::string_view text);

private:
    ManagedDirectory(os::Folder folder, bool made) : folder_(std::move(folder)), made_(made) {}

    os::Folder folder_;
    os::File lock_;
    bool made_ = false;
};

}  // namespace vkf
