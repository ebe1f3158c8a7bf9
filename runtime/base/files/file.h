// Files: mapped reading, and writing that never leaves half a file behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/os_file.h"

namespace vkf {

/// A regular file mapped for reading; pages come from disk when touched. Owns the mapping; an empty
/// file has no bytes. If another process truncates a mapped file, this process ends (SIGBUS); this
/// program replaces files and never rewrites them.
/// Throws: InputError naming the path if it cannot be opened or is not a regular file.
class MappedFile {
public:
    MappedFile() = default;
    explicit MappedFile(const std::filesystem::path& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return {data_, size_}; }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Reads a whole file, or anything else that can be read to an end.
/// Throws: InputError naming the path.
std::string read_text(const std::filesystem::path& path);
std::string read_text(const os::File& file, const std::filesystem::path& shown);
std::string read_standard_input();

/// Takes a file's bytes from a producer, in any number of chunks; nothing is buffered.
/// Throws: Error naming the file and the system's reason (disk full, …).
class FileWriter {
public:
    FileWriter(const os::File& file, std::filesystem::path shown);  // borrows the file
    void write(std::span<const std::byte> bytes);
    void write(std::string_view characters);
    std::uint64_t written() const { return written_; }
    const std::filesystem::path& path() const { return path_; }

private:
    int descriptor_;
    std::filesystem::path path_;
    std::uint64_t written_ = 0;
};

/// Replaces a file by the output of `produce`: writes the file `.NAME.tmp` next to it, flushes it to disk, and renames
/// it over the old file. On any failure the temporary file is removed and the old file does not change. A killed
/// process may leave the temporary file; the next writer makes it again. (If only flushing the directory fails, after
/// renaming, the Error is thrown too, but the new file is in place.) A symbolic link is followed. A path that is not a
/// regular file (/dev/stdout, a pipe) is written directly.
/// Throws: Error naming path and reason, also if another process is writing the same file; exceptions of `produce`.
void write_atomically(const std::filesystem::path& path, const std::function<void(FileWriter&)>& produce);
void write_atomically(const std::filesystem::path& path, std::string_view content);
/// Replaces a file as write_atomically does, but does not wait for the disk: after a crash of the system the file may
/// be damaged. For caches that are checked.
void replace_file(const std::filesystem::path& path, const std::function<void(FileWriter&)>& produce);

/// Lock that excludes other processes until it goes out of scope or the process ends. The file is made if missing and
/// stays. Move-only.
/// Throws: Error if another process holds the lock, or the file cannot be made.
class FileLock {
public:
    explicit FileLock(const std::filesystem::path& path);

private:
    os::File file_;
};

/// Folder of the program's caches: $VKFORMER_CACHE, else vkformer in the user's cache
/// (os::cache_folder); nothing if the environment names neither. It need not exist.
std::optional<std::filesystem::path> cache_folder();

}  // namespace vkf
