// Targets of libFuzzer: readers of files from other programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vkf::fuzz {

/// A folder in which one input after the other is written, and which goes with the process.
class Folder {
public:
    Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();

    const std::filesystem::path& path() const { return path_; }
    /// A file of it with these bytes.
    std::filesystem::path file(const char* name, std::string_view bytes) const;

private:
    std::filesystem::path path_;
};

/// A reader, and examples of its files. Its input are the bytes of one file, or of several files separated by a byte 0.
/// It throws InputError or nothing; anything else is a fault.
struct Target {
    const char* name;
    void (*read)(const Folder& in, std::string_view bytes);
    std::vector<std::string> (*examples)();
};

/// All of them, by name.
const std::vector<Target>& targets();

/// Splits an input into `count` parts at its bytes 0. The last part has the rest; missing parts are empty.
std::vector<std::string_view> parts(std::string_view bytes, std::size_t count);

}  // namespace vkf::fuzz
