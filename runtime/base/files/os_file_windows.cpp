// Uses the C library's descriptors, which give POSIX's reasons for failures.
#include "base/files/os_file.h"

#include "base/text/windows_text.h"

// After Windows' own header.
#include <dirent.h>
#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cwchar>
#include <memory>

namespace vkf::os {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t MOST_AT_ONCE = std::size_t{1} << 30;  // counts are int

int open_file(const fs::path& path, int flags, int sharing) {
    const int descriptor = ::_wsopen(path.c_str(), flags | _O_BINARY | _O_NOINHERIT, sharing, _S_IREAD | _S_IWRITE);
    if (descriptor >= 0 || errno != EACCES) return descriptor;
    const DWORD attributes = ::GetFileAttributesW(path.c_str());
    const bool directory = attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
    errno = directory ? EISDIR : EACCES;
    return -1;
}

int flags_of(Open how) {
    switch (how) {
        case Open::read:
        case Open::read_at_once:
            return _O_RDONLY;
        case Open::write:
            return _O_WRONLY;
        case Open::append:
            return _O_WRONLY | _O_CREAT | _O_APPEND;
        case Open::create:
            return _O_WRONLY | _O_CREAT | _O_EXCL;
    }
    return -1;
}

HANDLE handle_of(const File& file) {
    return reinterpret_cast<HANDLE>(::_get_osfhandle(file.descriptor()));
}

}  // namespace

File::File(const fs::path& path, Open how) : descriptor_(open_file(path, flags_of(how), _SH_DENYNO)) {}

// Other processes may rename and remove the file, but not open it.
File File::locked(const fs::path& path) {
    const HANDLE handle = ::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_DELETE, nullptr,
                                        OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
        const DWORD reason = ::GetLastError();
        errno = reason == ERROR_SHARING_VIOLATION || reason == ERROR_DELETE_PENDING ? EWOULDBLOCK
                : reason == ERROR_FILE_NOT_FOUND || reason == ERROR_PATH_NOT_FOUND  ? ENOENT
                                                                                    : EACCES;
        return {};
    }
    BY_HANDLE_FILE_INFORMATION found{};
    if (!::GetFileInformationByHandle(handle, &found) || (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
        ::CloseHandle(handle);
        errno = EEXIST;
        return {};
    }
    return File(::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_RDWR | _O_BINARY | _O_NOINHERIT));
}

bool File::close() {
    return descriptor_ < 0 || ::_close(std::exchange(descriptor_, -1)) == 0;
}

std::optional<FileStatus> status(int descriptor) {
    struct _stat64 found = {};
    if (::_fstat64(descriptor, &found) != 0) return std::nullopt;
    const bool regular = (found.st_mode & _S_IFMT) == _S_IFREG;
    return FileStatus{regular ? FileStatus::Kind::regular : FileStatus::Kind::other,
                      static_cast<std::uint64_t>(found.st_size)};
}

std::optional<std::size_t> read(int descriptor, std::span<char> room) {
    const int count = ::_read(descriptor, room.data(), static_cast<unsigned>(std::min(room.size(), MOST_AT_ONCE)));
    return count < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(count));
}

bool write(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto portion = static_cast<unsigned>(std::min(bytes.size(), MOST_AT_ONCE));
        const int count = ::_write(descriptor, bytes.data(), portion);
        if (count <= 0) {
            if (::GetLastError() == ERROR_NO_DATA) errno = EPIPE;  // the C library gives EINVAL if a pipe has no reader
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

bool rewind(const File& file) {
    return ::_lseeki64(file.descriptor(), 0, SEEK_SET) == 0;
}

bool flush(const File& file) {
    return ::_commit(file.descriptor()) == 0;
}

bool flush(const fs::path& path) {
    const File file(path, Open::write);
    return file.valid() ? flush(file) : errno == EACCES;  // a read-only file
}

bool flush_directory(const fs::path&) {
    return true;  // the file system keeps a journal of names
}

const std::byte* map(const File& file, std::size_t size) {
    const HANDLE mapping = ::CreateFileMappingW(handle_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr);
    void* data = mapping ? ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size) : nullptr;
    if (!data) errno = ::GetLastError() == ERROR_NOT_ENOUGH_MEMORY ? ENOMEM : EACCES;
    if (mapping) ::CloseHandle(mapping);
    return static_cast<const std::byte*>(data);
}

void unmap(const std::byte* data, std::size_t) {
    ::UnmapViewOfFile(data);
}

}  // namespace vkf::os

// --- Lists of directories ------------------------------------------------------------------------

// std::filesystem lists a directory by functions of MinGW's library that work for paths of at most 260 characters and
// never end for a longer one. The functions below replace them.

namespace {

struct Listing {
    HANDLE search = INVALID_HANDLE_VALUE;
    WIN32_FIND_DATAW found{};
    bool waiting = false;  // `found` has not been returned yet
    _wdirent given{};
};

}  // namespace

extern "C" {

_WDIR* _wopendir(const wchar_t* path) noexcept {
    auto listing = std::make_unique<Listing>();
    listing->search = ::FindFirstFileW((std::filesystem::path(path) / L"*").c_str(), &listing->found);
    listing->waiting = listing->search != INVALID_HANDLE_VALUE;
    if (!listing->waiting) {
        const DWORD attributes = ::GetFileAttributesW(path);
        const bool directory = attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
        errno = directory ? EACCES : attributes != INVALID_FILE_ATTRIBUTES ? ENOTDIR : ENOENT;
        return nullptr;
    }
    return reinterpret_cast<_WDIR*>(listing.release());
}

/// Does not change errno at the end of the list.
_wdirent* _wreaddir(_WDIR* directory) noexcept {
    auto& listing = *reinterpret_cast<Listing*>(directory);
    if (!listing.waiting && !::FindNextFileW(listing.search, &listing.found)) {
        if (::GetLastError() != ERROR_NO_MORE_FILES) errno = EIO;
        return nullptr;
    }
    listing.waiting = false;
    const std::size_t units = std::wcslen(listing.found.cFileName);
    std::copy_n(listing.found.cFileName, units + 1, listing.given.d_name);
    listing.given.d_namlen = static_cast<unsigned short>(units);
    return &listing.given;
}

int _wclosedir(_WDIR* directory) noexcept {
    const std::unique_ptr<Listing> listing(reinterpret_cast<Listing*>(directory));
    return ::FindClose(listing->search) ? 0 : -1;
}
}
