// Which files make a directory a model, a run, data or a tokenizer, none of which is replaced unasked.
#pragma once

#include <filesystem>
#include <vector>

#include "base/managed_directory.h"

namespace vkf {

/// A file that a directory holds as part of something.
struct HeldFile {
    enum class Kind { run, model, data, tokenizer };

    std::filesystem::path name;  // relative to the directory
    Kind kind;
};

/// The files of runs, models, data and tokenizers that are in the directory, in its best/ and in its numbered
/// checkpoints, a run's first.
std::vector<HeldFile> held_files(const std::filesystem::path& directory);

/// Throws InputError naming one of the files that a fresh model, run or data set would replace in the directory, unless
/// `overwrite` or they are empty; and at any rate if they are what the command reads: `inputs`, data files or
/// directories.
void require_free(const std::filesystem::path& directory, bool overwrite,
                  const std::vector<std::filesystem::path>& inputs = {});

/// A directory into which a fresh model, run or data set will be published.
struct ClaimedDirectory {
    ManagedDirectory directory;
    std::vector<std::filesystem::path> obsolete;  // files that the set takes the place of, named relative to it

    void publish(const ManagedDirectory::Fill& fill) { directory.publish(fill, obsolete); }
};

/// Opens the directory and takes its lock. Throws as require_free and ManagedDirectory::claim do.
ClaimedDirectory claim_directory(const std::filesystem::path& directory, bool overwrite,
                                 const std::vector<std::filesystem::path>& inputs = {});

/// Throws InputError if any of the files that would be replaced in `directory` is of the model directory `model`, which
/// is needed on.
void require_apart(const std::filesystem::path& directory, const std::filesystem::path& model);

}  // namespace vkf
