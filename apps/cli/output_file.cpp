#include "apps/cli/output_file.h"

#include "apps/cli/common.h"
#include "models/files/held_files.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

bool same(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
}

/// True if the file is below one of the folders that have a folder of images for every class.
bool among_images(const fs::path& file, const fs::path& data) {
    std::error_code ignored;
    const fs::path real = fs::canonical(file, ignored), root = fs::canonical(data, ignored);
    const std::string first = real.lexically_relative(root).begin()->string();
    return first == "train" || first == "val" || first == "test";
}

bool is_part(const fs::path& file, const fs::path& input) {
    if (same(file, input)) return true;
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored) || !fs::is_directory(input, ignored)) return false;
    for (const HeldFile& held : held_files(input))
        if (same(file, input / held.name)) return true;
    return among_images(file, input);
}

}  // namespace

void require_output(const char* option, const std::string& output, const std::vector<fs::path>& inputs) {
    require_directory_of(output);
    for (const fs::path& input : inputs)
        require(!is_part(output, input), option, ' ', output, " is read here, as ",
                same(output, input) ? "input" : "part of " + input.string(), ": wanted another file");
}

}  // namespace vkf
