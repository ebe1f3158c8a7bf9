// Numbered checkpoints: folders checkpoint-STEP beside a run's last one, as Hugging Face's Trainer calls them. Each has
// a manifest, which says that it is this run's, and whether it is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/managed_directory.h"
#include "models/files/manifest.h"

namespace vkf {

/// The folders of this name that the directory has, whoever made them, in the order of their steps.
std::vector<std::filesystem::path> numbered_checkpoints(const std::filesystem::path& directory);

/// "checkpoint-250"
std::string numbered_name(std::int64_t step);

/// Keeps the run's last checkpoint, which has this manifest, as checkpoint-STEP too: it appears whole, at one moment.
/// Then removes the oldest ones beyond `limit`. Files are linked where the file system can: they are replaced and never
/// rewritten.
///
/// Only folders that the same run wrote count and are removed, as long as they have all of their files and nobody
/// trains on in them. A folder in which somebody put something keeps that. Returns false, and leaves everything, if
/// there is a folder of this step that the run did not write. Throws Error naming the path and the system's reason.
bool keep_numbered(ManagedDirectory& run, const Manifest& manifest, std::int64_t limit);

}  // namespace vkf
