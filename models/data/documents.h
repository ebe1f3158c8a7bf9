// Texts on disk as documents, read portion by portion in memory that does not grow with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// A file of documents: a .jsonl has one on every line that is not blank, a .json one in every object of a list, or is
/// as a .jsonl; any other file is one.
struct TextFile {
    std::filesystem::path path;
    std::uint64_t bytes = 0;

    bool json() const { return path.extension() == ".jsonl" || path.extension() == ".json"; }
};

/// The files that some inputs stand for, in the order of the inputs: a file stands for itself, a directory for the .txt
/// and .jsonl files below it in the order of their paths.
/// Throws: InputError naming an input that does not exist or a directory without such files.
std::vector<TextFile> text_files(std::span<const std::filesystem::path> inputs);

/// All documents of some files, one after the other.
///
/// Line ends of a text file become '\n' whatever they were; a string in JSON is what it says. Lines and lists of JSON
/// are held whole.
/// Throws: InputError naming the file and the byte that is not UTF-8, or the line that is no JSON object or lacks the
/// key, or whose value there is no string.
class Documents {
public:
    /// `key` is where an object has its text.
    Documents(std::vector<TextFile> files, std::string key) : files_(std::move(files)), key_(std::move(key)) {}

    /// Goes on to the next one that is not empty, the first to begin with; false behind the last.
    bool next();
    /// The document's bytes as they lie on disk, or of its string.
    std::uint64_t size() const { return size_; }
    /// Its next characters, at most those that begin before byte `limit` of it; empty behind them. Valid until the next
    /// call.
    std::string_view read(std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());
    /// "a.txt", "b.jsonl: line 3" or "c.json: [2]", for messages.
    std::string where() const;

    /// Bytes of all files that are behind us.
    std::uint64_t bytes_read() const { return before_ + read_; }

private:
    const TextFile& file() const { return files_[at_ - 1]; }
    bool next_object();
    bool next_line();
    void take(nlohmann::json& object);
    void open(const TextFile& file);

    std::vector<TextFile> files_;
    std::string key_;
    std::size_t at_ = 0;  // the number of files that have been opened
    std::ifstream stream_;
    nlohmann::json list_;       // of a .json file that is one; else null
    std::uint64_t line_ = 0;    // of a file of lines, or the number of the list's elements so far
    std::string text_;          // a line's text, or a portion
    std::uint64_t size_ = 0;    // of the document
    std::uint64_t done_ = 0;    // bytes of it
    std::uint64_t read_ = 0;    // bytes of the file
    std::uint64_t before_ = 0;  // bytes of the files before it
};

}  // namespace vkf
