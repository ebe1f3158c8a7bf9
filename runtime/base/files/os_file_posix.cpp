#include "base/files/os_file_posix.h"

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace vkf::os {

namespace fs = std::filesystem;

File::File(const fs::path& path, Open how) : descriptor_(::open(path.c_str(), flags_of(how), 0666)) {}

File locked_at(int folder, const char* name) {
    for (;;) {
        File file(::openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
        struct stat opened = {}, named = {};
        if (!file.valid() || ::fstat(file.descriptor(), &opened) != 0) return {};
        if (!S_ISREG(opened.st_mode)) {
            errno = EEXIST;
            return {};
        }
        if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return {};
        // The last holder may have renamed or removed the file between opening and locking here.
        const bool still_there = ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                                 named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
        if (still_there) return file;
    }
}

File File::locked(const fs::path& path) {
    return locked_at(AT_FDCWD, path.c_str());
}

bool File::close() {
    return descriptor_ < 0 || ::close(std::exchange(descriptor_, -1)) == 0;
}

std::optional<FileStatus> status(int descriptor) {
    struct stat found = {};
    if (::fstat(descriptor, &found) != 0) return std::nullopt;
    using Kind = FileStatus::Kind;
    return FileStatus{S_ISREG(found.st_mode)   ? Kind::regular
                      : S_ISDIR(found.st_mode) ? Kind::directory
                                               : Kind::other,
                      static_cast<std::uint64_t>(found.st_size)};
}

std::optional<std::size_t> read(int descriptor, std::span<char> room) {
    for (;;) {
        const ssize_t count = ::read(descriptor, room.data(), room.size());
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) return std::nullopt;
    }
}

bool write(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count >= 0)
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        else if (errno != EINTR)
            return false;
    }
    return true;
}

bool rewind(const File& file) {
    return ::lseek(file.descriptor(), 0, SEEK_SET) == 0;
}

// Some file systems cannot flush some kinds of file and return EINVAL; there is then nothing to wait for.
bool flush(const File& file) {
    return ::fsync(file.descriptor()) == 0 || errno == EINVAL;
}

bool flush(const fs::path& path) {
    const File file(path, Open::read);
    return file.valid() && flush(file);
}

bool flush_directory(const fs::path& directory) {
    const File handle(directory, Open::read);
    return handle.valid() ? flush(handle) : errno == EACCES;  // a directory that may be written but not listed
}

const std::byte* map(const File& file, std::size_t size) {
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    return data == MAP_FAILED ? nullptr : static_cast<const std::byte*>(data);
}

void unmap(const std::byte* data, std::size_t size) {
    ::munmap(const_cast<std::byte*>(data), size);
}

}  // namespace vkf::os
