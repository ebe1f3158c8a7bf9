// HellaSwag: contexts, each with four endings, one of which is right.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace vkf {

struct HellaswagTask {
    std::string context;
    std::array<std::string, 4> endings;
    std::size_t label = 0;  // index of the right ending
};

/// Reads the tasks of a file. A .jsonl file, the published form, has objects with "ctx", "endings" and "label"; any
/// other text has groups of six lines, a context, a label and the endings. Zellers et al.: HellaSwag: Can a Machine
/// Really Finish Your Sentence? (ACL 2019).
/// Throws: InputError naming the file and the line, what was found and what was wanted.
std::vector<HellaswagTask> read_hellaswag(const std::filesystem::path& path);

}  // namespace vkf
