// Text files as documents, read in portions, in memory that does not grow with them.
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

/// A file of documents. A .jsonl file has one per line that is not blank; a .json file has one per object of a list, or
/// is like a .jsonl file; any other file is one document.
struct TextFile {
    std::filesystem::path path;
    std::uint64_t bytes = 0;

    bool json() const { return path.extension() == ".jsonl" || path.extension() == ".json"; }
};

/// Files that the inputs name, in the order of the inputs: a file names itself, a directory the .txt and .jsonl files
/// below it in the order of their paths.
/// Throws: InputError naming an input that does not exist or a directory without such files.
std::vector<TextFile> text_files(std::span<const std::filesystem::path> inputs);

/// All documents of some files, one after the other.
///
/// Every line end of a text file becomes '\n'; a string in JSON stays as it is. Lines and lists of JSON are held as a
/// whole.
/// Throws: InputError naming the file and the byte that is not UTF-8, or the line that is no JSON object, lacks the
/// key, or has a value there that is no string.
class Documents {
public:
    /// `key` names the member of an object that has its text.
    Documents(std::vector<TextFile> files, std::string key) : files_(std::move(files)), key_(std::move(key)) {}

    /// Continues to the next document that is not empty, at first to the first one; false after the last.
    bool next();
    /// Bytes of the document on disk, or of its string.
    std::uint64_t size() const { return size_; }
    /// Next characters of the document, at most those that begin before its byte `limit`; empty after them. Valid until
    /// the next call.
    std::string_view read(std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());
    /// "a.txt", "b.jsonl: line 3" or "c.json: [2]", for messages.
    std::string where() const;

    /// Bytes of all files that have been read.
    std::uint64_t bytes_read() const { return before_ + read_; }

private:
    const TextFile& file() const { return files_[at_ - 1]; }
    bool next_object();
    bool next_line();
    void take(nlohmann::json& object);
    void open(const TextFile& file);

    std::vector<TextFile> files_;
    std::string key_;
    std::size_t at_ = 0;  // number of files that have been opened
    std::ifstream stream_;
    nlohmann::json list_;       // the list of a .json file that is one; else null
    std::uint64_t line_ = 0;    // number of lines, or of the list's elements, so far
    std::string text_;          // a line's text, or a portion
    std::uint64_t size_ = 0;    // bytes of the document
    std::uint64_t done_ = 0;    // bytes of the document that have been read
    std::uint64_t read_ = 0;    // bytes of the file that have been read
    std::uint64_t before_ = 0;  // bytes of the files before the current one
};

}  // namespace vkf
