#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

std::string reason() {
    return std::strerror(errno);
}

class Descriptor {
public:
    Descriptor(const fs::path& path, int flags, mode_t mode = 0)
        : value_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }

    bool valid() const { return value_ >= 0; }
    int value() const { return value_; }
    bool close() { return value_ < 0 || ::close(std::exchange(value_, -1)) == 0; }

private:
    int value_;
};

// Some file systems cannot flush some kinds of file and say EINVAL; there is nothing to wait for then.
bool flush(int descriptor) {
    return ::fsync(descriptor) == 0 || errno == EINVAL;
}

void flush_directory(const fs::path& directory) {
    Descriptor handle(directory, O_RDONLY | O_DIRECTORY);
    if (!handle.valid() && errno == EACCES) return;  // may be written but not listed
    if (!handle.valid() || !flush(handle.value())) {
        throw Error("cannot flush directory ", directory.string(), ": ", reason());
    }
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Removes its file unless told that the file has been moved away.
class Temporary {
public:
    explicit Temporary(fs::path path) : path_(std::move(path)) {}
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    void moved() { path_.clear(); }

private:
    fs::path path_;
};

void write_directly(const fs::path& path, const std::function<void(FileWriter&)>& produce) {
    Descriptor file(path, O_WRONLY);
    if (!file.valid()) throw Error("cannot write ", path.string(), ": ", reason());
    FileWriter writer(file.value(), path);
    produce(writer);
    if (!file.close()) throw Error("cannot write ", path.string(), ": ", reason());
}

void rename_file(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) {
        throw Error("cannot write ", to.string(), ": ", reason());
    }
}

std::vector<fs::path> files_in(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        files.push_back(entry->path());
    }
    if (error == std::errc::no_such_file_or_directory) return {};  // somebody else was faster
    if (error) throw Error("cannot list ", folder.string(), ": ", error.message());
    std::sort(files.begin(), files.end());
    return files;
}

// In a set's folder: the names of the files that go when it comes, a line each.
constexpr const char* OBSOLETE = ".obsolete";

void remove_obsolete(const fs::path& directory, const fs::path& list) {
    std::ifstream names(list);  // somebody else may have been faster
    for (std::string name; std::getline(names, name);) {
        const fs::path file = directory / name, parent = fs::path(name).parent_path();
        // The list may come with a directory that somebody else made: it reaches nothing outside.
        const bool plain = parent.empty() || (parent == parent.filename() && parent != ".." && parent != "." &&
                                              !fs::is_symlink(directory / parent));
        if (!plain || fs::path(name).is_absolute()) {
            throw InputError((directory / ".saved" / OBSOLETE).string(), ": '", name, "' lies outside the directory");
        }
        if (::unlink(file.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
            throw Error("cannot remove ", file.string(), ", which a save replaces: ", reason());
        }
        if (fs::path(name).has_parent_path()) ::rmdir(file.parent_path().c_str());  // if it was the last one there
    }
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) : path_(path) {
    Descriptor file(path, O_RDONLY);
    struct stat status = {};
    if (!file.valid() || ::fstat(file.value(), &status) != 0) {
        throw InputError("cannot read ", path.string(), ": ", reason());
    }
    require(S_ISREG(status.st_mode), "cannot read ", path.string(), ": it is ",
            S_ISDIR(status.st_mode) ? "a directory" : "not a regular file", ", wanted a file");
    if (status.st_size == 0) return;  // a mapping of no bytes is refused by the system
    const auto size = static_cast<std::size_t>(status.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0);
    if (data == MAP_FAILED) throw Error("cannot map ", path.string(), ": ", reason());
    data_ = static_cast<const std::byte*>(data);
    size_ = size;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

MappedFile::~MappedFile() {
    if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::string read_text(const fs::path& path) {
    Descriptor file(path, O_RDONLY);
    if (!file.valid()) throw InputError("cannot read ", path.string(), ": ", reason());
    struct stat status = {};
    std::string content;
    if (::fstat(file.value(), &status) == 0 && S_ISREG(status.st_mode)) {
        content.reserve(static_cast<std::size_t>(status.st_size));
    }
    std::vector<char> chunk(1 << 16);
    for (;;) {
        const ssize_t count = ::read(file.value(), chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw InputError("cannot read ", path.string(), ": ", reason());
        if (count == 0) return content;
        content.append(chunk.data(), static_cast<std::size_t>(count));
    }
}

FileWriter::FileWriter(int descriptor, fs::path shown) : descriptor_(descriptor), path_(std::move(shown)) {}

void FileWriter::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw Error("cannot write ", path_.string(), ": ", reason());
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        written_ += static_cast<std::uint64_t>(count);
    }
}

void FileWriter::write(std::string_view characters) {
    write(std::as_bytes(std::span(characters)));
}

void write_atomically(const fs::path& path, const std::function<void(FileWriter&)>& produce) {
    std::error_code error;
    const fs::path followed = fs::canonical(path, error);
    const fs::path target = error ? path : followed;
    const fs::file_type type = fs::status(target, error).type();
    if (type == fs::file_type::character || type == fs::file_type::fifo || type == fs::file_type::socket ||
        type == fs::file_type::block) {
        return write_directly(target, produce);
    }
    if (type == fs::file_type::directory) {
        throw Error("cannot write ", path.string(), ": it is a directory, wanted a file");
    }

    static std::atomic<unsigned> number = 0;
    const fs::path temporary =
        folder_of(target) / text(".", target.filename().string(), ".", ::getpid(), "-", number++, ".tmp");
    Descriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (!file.valid()) throw Error("cannot write ", path.string(), ": ", reason());
    Temporary guard(temporary);
    FileWriter writer(file.value(), path);
    produce(writer);
    if (!flush(file.value()) || !file.close()) {
        throw Error("cannot write ", path.string(), ": ", reason());
    }
    if (::rename(temporary.c_str(), target.c_str()) != 0) {
        throw Error("cannot write ", path.string(), ": ", reason());
    }
    guard.moved();
    flush_directory(folder_of(target));
}

void write_atomically(const fs::path& path, std::string_view content) {
    write_atomically(path, [&](FileWriter& file) { file.write(content); });
}

void publish_files(const fs::path& directory, const std::function<void(const fs::path&)>& fill,
                   std::span<const fs::path> obsolete) {
    const fs::path saving = directory / ".saving";
    std::error_code error;
    const bool made = fs::create_directories(directory, error);
    if (error) throw Error("cannot make directory ", directory.string(), ": ", error.message());
    settle_files(directory);
    fs::remove_all(saving, error);  // what a crash left
    if (!error) fs::create_directory(saving, error);
    if (error) throw Error("cannot make directory ", saving.string(), ": ", error.message());
    try {
        fill(saving);
        for (const fs::path& file : files_in(saving)) {
            const fs::path target = directory / file.filename();
            if (!fs::is_regular_file(fs::symlink_status(file)) || fs::is_directory(target)) {
                throw Error("cannot write ", target.string(), ": a folder is in the way");
            }
            Descriptor handle(file, O_RDONLY);
            if (!handle.valid() || !flush(handle.value())) {
                throw Error("cannot write ", target.string(), ": ", reason());
            }
        }
        std::string leaving;
        for (const fs::path& name : obsolete) {
            if (!fs::exists(saving / name)) leaving += name.string() + "\n";
        }
        if (!leaving.empty()) write_atomically(saving / OBSOLETE, leaving);
        flush_directory(saving);
        rename_file(saving, directory / ".saved");
    } catch (...) {
        fs::remove_all(saving, error);
        if (made) fs::remove(directory, error);  // unless somebody else put something there
        throw;
    }
    flush_directory(directory);
    settle_files(directory);
}

void settle_files(const fs::path& directory) {
    const fs::path saved = directory / ".saved";
    std::error_code error;
    if (!fs::is_directory(saved, error)) return;
    remove_obsolete(directory, saved / OBSOLETE);
    for (const fs::path& file : files_in(saved)) {
        if (file.filename() == OBSOLETE) continue;
        const fs::path target = directory / file.filename();
        // A reader and the publisher may settle together: who comes second finds the file already moved.
        if (::rename(file.c_str(), target.c_str()) != 0 && errno != ENOENT) {
            throw Error("cannot finish the save of ", target.string(), ": ", reason());
        }
    }
    flush_directory(directory);  // the moves are on disk before the record of them goes
    ::unlink((saved / OBSOLETE).c_str());
    if (::rmdir(saved.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY) {
        throw Error("cannot finish the save in ", directory.string(), ": ", reason());
    }
    flush_directory(directory);
}

std::optional<fs::path> cache_folder() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return fs::path(value ? value : "");
    };
    if (const fs::path ours = variable("VKFORMER_CACHE"); !ours.empty()) return ours;
    if (const fs::path xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "vkformer";
    if (const fs::path home = variable("HOME"); !home.empty()) return home / ".cache" / "vkformer";
    return std::nullopt;
}

FileLock::FileLock(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw Error("cannot make ", path.string(), ": ", std::strerror(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    ::close(descriptor_);
    throw Error(path.parent_path().string(), " is in use by another process");
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace vkf
