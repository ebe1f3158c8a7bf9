// Files that make a directory a model, a run, data or a tokenizer. They are replaced only on request.
#pragma once

#include <filesystem>
#include <vector>

#include "base/files/managed_directory.h"

namespace vkf {

/// A file that a directory holds as part of something.
struct HeldFile {
    enum class Kind { run, model, data, tokenizer };

    std::filesystem::path name;  // relative to the directory
    Kind kind;
};

/// Files of runs, models, data and tokenizers in the directory, in its best/ and in its numbered checkpoints; a run's
/// are first.
std::vector<HeldFile> held_files(const std::filesystem::path& directory);

/// Throws InputError naming a file that a fresh model, run or data set would replace in the directory, unless
/// `overwrite` is set or the file is empty; and always if the command reads it, that is, if it belongs to `inputs`,
/// data files or directories.
void require_free(const std::filesystem::path& directory, bool overwrite,
                  const std::vector<std::filesystem::path>& inputs = {});

/// A directory into which a fresh model, run or data set will be published.
struct ClaimedDirectory {
    ManagedDirectory directory;
    std::vector<std::filesystem::path> obsolete;  // files that the set replaces, relative to the directory

    void publish(const ManagedDirectory::Fill& fill) { directory.publish(fill, obsolete); }
};

/// Opens the directory and takes its lock. Throws as require_free and ManagedDirectory::claim do.
ClaimedDirectory claim_directory(const std::filesystem::path& directory, bool overwrite,
                                 const std::vector<std::filesystem::path>& inputs = {});

/// Throws InputError if any file that would be replaced in `directory` belongs to the model directory `model`, which is
/// still needed.
void require_apart(const std::filesystem::path& directory, const std::filesystem::path& model);

}  // namespace vkf
