#include "base/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/os.h"
#include "base/regular_file.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

std::string reason() {
    return std::strerror(errno);
}

void flush_directory(const fs::path& directory) {
    if (!os::flush_directory(directory)) {
        throw Error("cannot flush directory ", directory.string(), ": ", reason());
    }
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// A new file that goes unless told that it has been moved away.
class Temporary {
public:
    explicit Temporary(fs::path path) : file(path, os::Open::create), path_(std::move(path)) {}
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        std::error_code ignored;
        file.close();  // only then can it be removed everywhere
        if (made_ && !moved_) fs::remove(path_, ignored);
    }
    void moved() { moved_ = true; }

    os::File file;

private:
    fs::path path_;
    bool made_ = file.valid(), moved_ = false;
};

void write_directly(const fs::path& path, const std::function<void(FileWriter&)>& produce) {
    os::File file(path, os::Open::write);
    if (!file.valid()) throw Error("cannot write ", path.string(), ": ", reason());
    FileWriter writer(file, path);
    produce(writer);
    if (!file.close()) throw Error("cannot write ", path.string(), ": ", reason());
}

void rename_file(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) throw Error("cannot write ", to.string(), ": ", error.message());
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
        std::error_code error;
        fs::remove(file, error);
        if (error && error != std::errc::not_a_directory) {
            throw Error("cannot remove ", file.string(), ", which a save replaces: ", error.message());
        }
        if (!parent.empty() && fs::is_directory(directory / parent, error)) {
            fs::remove(directory / parent, error);  // if it was the last one there
        }
    }
}

std::string read_to_the_end(int descriptor, const std::string& name) {
    std::string content;
    const auto status = os::status(descriptor);
    if (status && status->kind == os::FileStatus::Kind::regular)
        content.reserve(static_cast<std::size_t>(status->size));
    std::vector<char> chunk(1 << 16);
    for (;;) {
        const auto count = os::read(descriptor, chunk);
        if (!count) throw InputError("cannot read ", name, ": ", reason());
        if (*count == 0) return content;
        content.append(chunk.data(), *count);
    }
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) : path_(path) {
    const os::File file = os::open_at_once(path);
    const auto status = file.valid() ? os::status(file.descriptor()) : std::nullopt;
    if (!status) throw InputError("cannot read ", path.string(), ": ", reason());
    using Kind = os::FileStatus::Kind;
    require(status->kind == Kind::regular, "cannot read ", path.string(), ": it is ",
            status->kind == Kind::directory ? "a directory" : "not a regular file", ", wanted a file");
    if (status->size == 0) return;  // a mapping of no bytes is refused by the system
    size_ = static_cast<std::size_t>(status->size);
    data_ = os::map(file, size_);
    if (!data_) throw Error("cannot map ", path.string(), ": ", reason());
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
    if (data_) os::unmap(data_, size_);
}

std::string read_text(const fs::path& path) {
    const os::File file(path, os::Open::read);
    if (!file.valid()) throw InputError("cannot read ", path.string(), ": ", reason());
    return read_to_the_end(file.descriptor(), path.string());
}

std::string read_standard_input() {
    return read_to_the_end(os::STANDARD_INPUT, "standard input");
}

FileWriter::FileWriter(const os::File& file, fs::path shown)
    : descriptor_(file.descriptor()), path_(std::move(shown)) {}

void FileWriter::write(std::span<const std::byte> bytes) {
    if (!os::write(descriptor_, bytes)) throw Error("cannot write ", path_.string(), ": ", reason());
    written_ += bytes.size();
}

void FileWriter::write(std::string_view characters) {
    write(std::as_bytes(std::span(characters)));
}

namespace {

void replace(const fs::path& path, const std::function<void(FileWriter&)>& produce, bool durable) {
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
        folder_of(target) / text(".", target.filename().string(), ".", os::process_id(), "-", number++, ".tmp");
    Temporary fresh(temporary);
    if (!fresh.file.valid()) throw Error("cannot write ", path.string(), ": ", reason());
    FileWriter writer(fresh.file, path);
    produce(writer);
    if ((durable && !os::flush(fresh.file)) || !fresh.file.close()) {
        throw Error("cannot write ", path.string(), ": ", reason());
    }
    fs::rename(temporary, target, error);
    if (error) throw Error("cannot write ", path.string(), ": ", error.message());
    fresh.moved();
    if (durable) flush_directory(folder_of(target));
}

}  // namespace

void write_atomically(const fs::path& path, const std::function<void(FileWriter&)>& produce) {
    replace(path, produce, true);
}

void write_atomically(const fs::path& path, std::string_view content) {
    write_atomically(path, [&](FileWriter& file) { file.write(content); });
}

void replace_file(const fs::path& path, const std::function<void(FileWriter&)>& produce) {
    replace(path, produce, false);
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
            if (!os::flush(file)) throw Error("cannot write ", target.string(), ": ", reason());
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
        fs::rename(file, target, error);
        if (error && error != std::errc::no_such_file_or_directory) {
            throw Error("cannot finish the save of ", target.string(), ": ", error.message());
        }
    }
    flush_directory(directory);  // the moves are on disk before the record of them goes
    fs::remove(saved / OBSOLETE, error);
    fs::remove(saved, error);
    if (error && error != std::errc::directory_not_empty) {
        throw Error("cannot finish the save in ", directory.string(), ": ", error.message());
    }
    flush_directory(directory);
}

std::optional<fs::path> cache_folder() {
    if (const auto ours = os::environment("VKFORMER_CACHE"); ours && !ours->empty()) return *ours;
    if (const fs::path users = os::cache_folder(); !users.empty()) return users / "vkformer";
    return std::nullopt;
}

FileLock::FileLock(const fs::path& path) : file_(os::File::locked(path)) {
    if (file_.valid()) return;
    if (errno == EWOULDBLOCK) throw Error(path.parent_path().string(), " is in use by another process");
    throw Error("cannot make ", path.string(), ": ", reason());
}

}  // namespace vkf
