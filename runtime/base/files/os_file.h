// Open files, with one interface on POSIX and Windows, the base of base/files/file.h. Bytes are read and written
// unchanged; the reason of a failure is in errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace vkf::os {

/// Ways to open a file: read; read_at_once, without waiting for a pipe's writer; write an existing file, not truncated;
/// append, which makes a missing file; create, which fails if the file exists.
enum class Open { read, read_at_once, write, append, create };

/// An open file, closed with the object and not inherited by child processes. Move-only.
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

    /// Opens a regular file for reading and writing, made if missing, and locks it against other calls of this function
    /// until it is closed or the process ends. It may be renamed and removed meanwhile; opening its name then gives
    /// another file. Not valid, with errno EWOULDBLOCK, if the file is locked already; with another reason if the name
    /// is a link or not a regular file. On a file system without locks several may hold it.
    static File locked(const std::filesystem::path& path);

    bool valid() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }
    /// Closes the file; true if all written bytes were accepted, or if it was closed before.
    bool close();

private:
    int descriptor_ = -1;
};

/// Kind and size of a file.
struct FileStatus {
    enum class Kind { regular, directory, other } kind;
    std::uint64_t size;
};
std::optional<FileStatus> status(int descriptor);

/// Reads at most as many bytes as there is room for; returns 0 at the end, nothing on failure.
std::optional<std::size_t> read(int descriptor, std::span<char> room);
bool write(int descriptor, std::span<const std::byte> bytes);
bool rewind(const File& file);

/// Waits until the written bytes of a file, which may have been closed since, are on disk; also true if the file system
/// cannot tell.
bool flush(const File& file);
bool flush(const std::filesystem::path& file);
/// Waits until a directory's names are on disk, on systems that do not ensure it by themselves.
bool flush_directory(const std::filesystem::path& directory);

/// Maps the first `size` > 0 bytes of a file for reading: pages come from disk when touched. Null on failure. The file
/// may be closed meanwhile.
const std::byte* map(const File& file, std::size_t size);
void unmap(const std::byte* data, std::size_t size);

}  // namespace vkf::os
