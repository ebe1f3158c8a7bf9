// Numbered checkpoints: folders checkpoint-STEP next to a run's last checkpoint, named as by Hugging Face's Trainer.
// The manifest of each identifies its run and shows whether it is complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/managed_directory.h"
#include "models/files/manifest.h"

namespace vkf {

/// Folders of this name in the directory, made by any program, in the order of their steps.
std::vector<std::filesystem::path> numbered_checkpoints(const std::filesystem::path& directory);

/// "checkpoint-250"
std::string numbered_name(std::int64_t step);

/// Keeps the run's last checkpoint, which has this manifest, as checkpoint-STEP too: it appears complete, at one
/// moment. Then removes the oldest ones beyond `limit`. Files are linked if the file system can: they are replaced and
/// never rewritten.
///
/// Only folders that the same run wrote count and are removed, if they have all of their files and no training
/// continues in them. Files of other origin in such a folder stay. Returns false, and keeps everything, if there is a
/// folder of this step that the run did not write. Throws Error naming the path and the system's reason.
bool keep_numbered(ManagedDirectory& run, const Manifest& manifest, std::int64_t limit);

}  // namespace vkf
