// Which files make a directory a model, a run, data or a tokenizer, none of which is replaced unasked.
#pragma once

#include <filesystem>
#include <vector>

namespace vkf {

/// A file that a directory holds as part of something.
struct HeldFile {
    enum class Kind { run, model, data, tokenizer };

    std::filesystem::path name;  // relative to the directory
    Kind kind;
};

/// The files of runs, models, data and tokenizers that are in the directory, in its best/ and in its numbered
/// checkpoints, a run's first. Finishes a publication that was cut short.
std::vector<HeldFile> held_files(const std::filesystem::path& directory);

/// The names of the files that a fresh model, run or data set replaces, for publish_files. Throws InputError naming one
/// of them unless --overwrite was given or they are empty, and at any rate if they are what the command reads: `input`,
/// a data file or directory.
std::vector<std::filesystem::path> claim_directory(const std::filesystem::path& directory, bool overwrite,
                                                   const std::filesystem::path& input = {});

/// Throws InputError if any of the files that would be replaced in `directory` is of the model directory `model`, which
/// is needed on.
void require_apart(const std::filesystem::path& directory, const std::filesystem::path& model);

}  // namespace vkf
