// Directories into which this program writes: runs, models, data.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/os_folder.h"

namespace vkf {

/// A directory into which this process alone publishes files, as long as the value lives. It is opened once; names
/// inside are not followed where they are links, so that nothing outside is read, changed or removed, whatever somebody
/// has put there. Only the path itself, which a user named, may lead over links. Move-only.
///
/// Its lock is the file .lock, which goes with the value.
class ManagedDirectory {
public:
    /// Opens the directory, which is made if it is missing; then it goes again in the end if it is still empty.
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
    /// The open directory, for what publishing does not cover.
    const os::Folder& folder() const { return folder_; }

    /// Puts several files into the directory so that a crash at any moment leaves all old or all new.
    ///
    /// `fill` writes plain files into the folder that it is given. Once they are on disk that folder is renamed: the
    /// one moment at which the set becomes valid (base/published.h). Then each file is renamed into place. Other files
    /// stay as they are, but for the `obsolete` ones, named relative to the directory, which go at the same moment.
    ///
    /// A failure before that moment leaves everything old; after it the set is valid, and the next settle or publish
    /// finishes it.
    /// Throws: Error naming path and reason; InputError if a name that a save needs is a link; whatever `fill` throws.
    using Fill = std::function<void(const std::filesystem::path& folder)>;
    void publish(const Fill& fill, std::span<const std::filesystem::path> obsolete = {});
    /// The same into the folder of this name inside, which is made if it is missing.
    void publish_in(const std::filesystem::path& name, const Fill& fill);
    /// Puts files into a folder of this name, which there is not yet: it appears with all of them.
    void publish_folder(const std::filesystem::path& name, const Fill& fill);

    /// Finishes a publication that was cut short, here or in the folder of this name.
    void settle();
    void settle_in(const std::filesystem::path& name);

    /// Replaces a file by this text, at one moment.
    void replace(const std::filesystem::path& name, std::string_view text);

private:
    ManagedDirectory(os::Folder folder, bool made) : folder_(std::move(folder)), made_(made) {}

    os::Folder folder_;
    os::File lock_;
    bool made_ = false;
};

}  // namespace vkf
