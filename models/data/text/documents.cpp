#include "models/data/text/documents.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files/file.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "models/data/files_below.h"
#include "models/data/text/text.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t PORTION = 1 << 16;

bool blank(std::string_view line) {
    return line.find_first_not_of(" \t\r") == line.npos;
}

// True if a byte continues a character: 10xxxxxx.
bool continues(int byte) {
    return byte >= 0 && (byte & 0xc0) == 0x80;
}

TextFile text_file(const fs::path& path) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    require(!error, path.string(), ": ", error.message(), ", wanted a file of text");
    return {path, bytes};
}

}  // namespace

std::vector<TextFile> text_files(std::span<const fs::path> inputs) {
    std::vector<TextFile> files;
    for (const fs::path& input : inputs) {
        require(fs::exists(input), input.string(), ": does not exist, wanted a text, a .jsonl file or a directory");
        if (!fs::is_directory(input)) {
            files.push_back(text_file(input));
            continue;
        }
        const std::size_t before = files.size();
        for (const fs::path& path : files_below(input))
            if (path.extension() == ".txt" || path.extension() == ".jsonl") files.push_back(text_file(path));
        require(files.size() > before, input.string(), ": holds no .txt or .jsonl files");
    }
    return files;
}

bool Documents::next() {
    for (;;) {
        done_ = 0;
        if (at_ > 0 && file().json() && next_object()) {
            if (size_ > 0) return true;
            continue;
        }
        if (at_ > 0) before_ += file().bytes;
        read_ = 0;
        if (at_ == files_.size()) return false;
        open(files_[at_++]);
        if (!file().json() && size_ > 0) return true;
    }
}

void Documents::open(const TextFile& file) {
    stream_.close();
    stream_.open(file.path, std::ios::binary);
    require(stream_.is_open(), file.path.string(), ": ", std::strerror(errno));
    size_ = file.bytes;
    line_ = 0;
    list_ = nullptr;
    if (file.path.extension() != ".json") return;
    if ((stream_ >> std::ws).peek() == '[') list_ = parse_json(read_text(file.path), file.path.string());
    stream_.clear();
    stream_.seekg(0);
}

// Makes the next object's text the document; false at the file's end.
bool Documents::next_object() {
    if (list_.is_null()) return next_line();
    if (line_ == list_.size()) return false;
    nlohmann::json& object = list_[line_++];
    read_ = file().bytes / list_.size() * line_;
    take(object);
    return true;
}

// Makes the next line's text the document; false at the file's end.
bool Documents::next_line() {
    std::string line;
    do {
        if (!std::getline(stream_, line)) return false;
        ++line_;
        read_ += line.size() + 1;
    } while (blank(line));
    nlohmann::json object = parse_json(line, where());
    take(object);
    return true;
}

void Documents::take(nlohmann::json& object) {
    require(object.is_object(), where(), ": found ", one_line(object), ", wanted an object with the key \"", key_, '"');
    require(object.contains(key_), where(), ": has no key \"", key_, '"');
    nlohmann::json& value = object[key_];
    require(value.is_string(), where(), ": \"", key_, "\" is ", one_line(value), ", wanted a string");
    text_ = std::move(value.get_ref<std::string&>());
    size_ = text_.size();
}

std::string_view Documents::read(std::uint64_t limit) {
    const std::uint64_t most = std::min(size_, limit);
    if (done_ >= most) return {};
    if (file().json()) {
        std::uint64_t end = most;
        while (end < size_ && continues(static_cast<unsigned char>(text_[end]))) ++end;
        const std::uint64_t from = std::exchange(done_, end);
        return std::string_view(text_).substr(from, end - from);
    }
    text_.resize(std::min(PORTION, most - done_));
    stream_.read(text_.data(), std::ssize(text_));
    require(stream_.good(), where(), ": cannot be read to its end");
    // Neither a character nor a line end is cut.
    for (int more = 0; more < 3 && continues(stream_.peek()); ++more) text_ += static_cast<char>(stream_.get());
    if (text_.back() == '\r' && stream_.peek() == '\n') text_ += static_cast<char>(stream_.get());
    const auto wrong = invalid_utf8(text_);
    require(!wrong, where(), ": is not UTF-8 at byte ", done_ + wrong.value_or(0));
    done_ += text_.size();
    read_ = done_;
    unify_line_ends(text_);
    return text_;
}

std::string Documents::where() const {
    const std::string path = file().path.string();
    if (!file().json()) return path;
    return list_.is_null() ? text(path, ": line ", line_) : text(path, ": [", line_ - 1, "]");
}

}  // namespace vkf
