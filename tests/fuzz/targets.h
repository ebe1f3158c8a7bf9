// Fuzzing targets: readers of files from other programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vkf::fuzz {

/// A folder into which inputs are written one after the other. The destructor removes it.
class Folder {
public:
    Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();

    const std::filesystem::path& path() const { return path_; }
    /// Writes a file with these bytes into the folder and returns its path.
    std::filesystem::path file(const char* name, std::string_view bytes) const;

private:
    std::filesystem::path path_;
};

/// A reader, and examples of its input. The input is the bytes of one file, or of several, separated by bytes 0.
/// A reader may throw InputError only; every other failure is a bug.
struct Target {
    const char* name;
    void (*read)(const Folder& in, std::string_view bytes);
    std::vector<std::string> (*examples)();
};

/// All targets, with their names.
const std::vector<Target>& targets();

/// Splits an input at its bytes 0 into `count` parts. The last part holds all remaining bytes; missing parts are empty.
std::vector<std::string_view> parts(std::string_view bytes, std::size_t count);

}  // namespace vkf::fuzz
