#include "base/files/file.h"

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/published.h"
#include "base/os/os.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

void flush_directory(const fs::path& directory) {
    if (!os::flush_directory(directory)) {
        throw Error("cannot flush directory ", directory.string(), ": ", std::strerror(errno));
    }
}

// The file `.NAME.tmp`, locked while it is open. It is removed unless it replaces the target.
class Temporary {
public:
    explicit Temporary(const fs::path& target)
        : target_(target), path_(folder_of(target) / text(".", target.filename().string(), ".tmp")) {
        file = os::File::locked(path_);
        // Only a fresh file is written: an existing one may be another file under a second name.
        while (file.valid() && !fresh()) {
            std::error_code error;
            fs::remove(path_, error);
            file = error ? os::File() : os::File::locked(path_);
            if (error) errno = error.value();
        }
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        std::error_code ignored;
        if (file.valid()) fs::remove(path_, ignored);  // while the lock keeps others from making it again
    }
    void take_the_place(std::error_code& error) {
        fs::rename(path_, target_, error);
        if (!error) file = {};
    }

    os::File file;

private:
    bool fresh() const {
        std::error_code error;
        const std::uintmax_t names = fs::hard_link_count(path_, error);
        return os::status(file.descriptor())->size == 0 && (error || names == 1);
    }

    fs::path target_, path_;
};

void write_directly(const fs::path& path, const std::function<void(FileWriter&)>& produce) {
    os::File file(path, os::Open::write);
    if (!file.valid()) throw Error("cannot write ", path.string(), ": ", std::strerror(errno));
    FileWriter writer(file, path);
    produce(writer);
    if (!file.close()) throw Error("cannot write ", path.string(), ": ", std::strerror(errno));
}

std::string read_to_the_end(int descriptor, const std::string& name) {
    std::string content;
    const auto status = os::status(descriptor);
    if (status && status->kind == os::FileStatus::Kind::regular)
        content.reserve(static_cast<std::size_t>(status->size));
    std::vector<char> chunk(1 << 16);
    for (;;) {
        const auto count = os::read(descriptor, chunk);
        if (!count) throw InputError("cannot read ", name, ": ", std::strerror(errno));
        if (*count == 0) return content;
        content.append(chunk.data(), *count);
    }
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) : path_(path) {
    const os::File file = open_published(path, os::Open::read_at_once);
    const auto status = file.valid() ? os::status(file.descriptor()) : std::nullopt;
    if (!status) throw InputError("cannot read ", path.string(), ": ", std::strerror(errno));
    using Kind = os::FileStatus::Kind;
    require(status->kind == Kind::regular, "cannot read ", path.string(), ": it is ",
            status->kind == Kind::directory ? "a directory" : "not a regular file", ", wanted a file");
    if (status->size == 0) return;  // systems refuse empty mappings
    size_ = static_cast<std::size_t>(status->size);
    data_ = os::map(file, size_);
    if (!data_) throw Error("cannot map ", path.string(), ": ", std::strerror(errno));
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
    const os::File file = open_published(path, os::Open::read);
    if (!file.valid()) throw InputError("cannot read ", path.string(), ": ", std::strerror(errno));
    return read_to_the_end(file.descriptor(), path.string());
}

std::string read_text(const os::File& file, const fs::path& shown) {
    return read_to_the_end(file.descriptor(), shown.string());
}

std::string read_standard_input() {
    return read_to_the_end(os::STANDARD_INPUT, "standard input");
}

FileWriter::FileWriter(const os::File& file, fs::path shown)
    : descriptor_(file.descriptor()), path_(std::move(shown)) {}

void FileWriter::write(std::span<const std::byte> bytes) {
    if (!os::write(descriptor_, bytes)) throw Error("cannot write ", path_.string(), ": ", std::strerror(errno));
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

    Temporary fresh(target);
    if (!fresh.file.valid() && errno == EWOULDBLOCK)
        throw Error("cannot write ", path.string(), ": another process is writing it");
    if (!fresh.file.valid()) throw Error("cannot write ", path.string(), ": ", std::strerror(errno));
    FileWriter writer(fresh.file, path);
    produce(writer);
    if (durable && !os::flush(fresh.file)) throw Error("cannot write ", path.string(), ": ", std::strerror(errno));
    fresh.take_the_place(error);
    if (error) throw Error("cannot write ", path.string(), ": ", error.message());
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

std::optional<fs::path> cache_folder() {
    if (const auto ours = os::environment("VKFORMER_CACHE"); ours && !ours->empty()) return *ours;
    if (const fs::path users = os::cache_folder(); !users.empty()) return users / "vkformer";
    return std::nullopt;
}

FileLock::FileLock(const fs::path& path) : file_(os::File::locked(path)) {
    if (file_.valid()) return;
    if (errno == EWOULDBLOCK) throw Error(path.parent_path().string(), " is in use by another process");
    throw Error("cannot make ", path.string(), ": ", std::strerror(errno));
}

}  // namespace vkf
