// Open files, in one form on POSIX and on Windows: what stands behind base/file.h. Bytes are read and written as they
// are; the reason of a failure is in errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace vkf::os {

/// Ways to open a file: read it, read_at_once without waiting for a pipe's writer; write it as it is; append to it,
/// which makes it if missing; create it, which fails if it is there.
enum class Open { read, read_at_once, write, append, create };

/// An open file, which is closed in the end, and which programs that we start do not inherit. Move-only.
class File {
public:
    File() = default;
    File(const std::filesystem::path& path, Open how);
    explicit File(int descriptor) : descriptor_(descriptor) {}
    File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~File() { close(); }

    /// Opens a regular file, made if missing, to be read and written, so that nobody else can do so by this function
    /// until this one is closed or the process ends. It may be renamed and removed meanwhile; whoever opens its name
    /// then gets another file. Not valid, with errno EWOULDBLOCK, if somebody else has it; with another reason if the
    /// name is a link or no regular file. A file system without locks lets everybody have it.
    static File locked(const std::filesystem::path& path);

    bool valid() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }
    /// Whether everything that was written has been taken; also if it was closed before.
    bool close();

private:
    int descriptor_ = -1;
};

/// What a file is.
struct FileStatus {
    enum class Kind { regular, directory, other } kind;
    std::uint64_t size;
};
std::optional<FileStatus> status(int descriptor);

/// At most so many bytes as there is room for; 0 at the end, nothing on failure.
std::optional<std::size_t> read(int descriptor, std::span<char> room);
bool write(int descriptor, std::span<const std::byte> bytes);
bool rewind(const File& file);

/// Waits until what was written to a file is on disk, which may have been closed since; also true where the file system
/// cannot tell.
bool flush(const File& file);
bool flush(const std::filesystem::path& file);
/// Waits until a directory's names are on disk, where systems do not see to that themselves.
bool flush_directory(const std::filesystem::path& directory);

/// The first `size` bytes of a file, of which there must be some, mapped for reading: pages come from disk when
/// touched. Null on failure. The file may be closed meanwhile.
const std::byte* map(const File& file, std::size_t size);
void unmap(const std::byte* data, std::size_t size);

}  // namespace vkf::os
