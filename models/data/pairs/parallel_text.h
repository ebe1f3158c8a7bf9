// Parallel texts: sentences and their translations, line by line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vkf {

/// Line i of `source` means the same as line i of `target`. No line is empty.
struct ParallelText {
    std::vector<std::string> source, target;
    std::string source_name, target_name;  // files, for messages
    std::size_t skipped = 0;               // pairs of two empty lines, which are left out
};

/// Names of the two fields of an object, or nothing for a .tsv file.
struct PairKeys {
    std::string source = "source", target = "target";
};

/// Parses "SOURCE,TARGET". Throws: InputError naming the words if they are not two names with a comma between them.
PairKeys pair_keys(const std::string& words);

/// Reads two files with as many lines. UTF-8; every line end is one of '\n', "\r\n" and '\r'.
/// Throws: InputError naming the files and their numbers of lines if these differ, or file and line if a line is empty
/// and the other file's is not; else as read_corpus does.
ParallelText read_parallel_files(const std::filesystem::path& source, const std::filesystem::path& target);

/// Reads one file of pairs: .tsv with two columns, or .jsonl with an object per line that has both keys.
/// Throws: InputError naming file and line that is not a pair; and for files of other kinds.
ParallelText read_pair_file(const std::filesystem::path& path, const PairKeys& keys);

}  // namespace vkf
