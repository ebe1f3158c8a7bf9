// Numbered checkpoints: folders checkpoint-STEP beside a run's last one, as Hugging Face's Trainer calls them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace vkf {

/// The folders of this kind that the directory has, in the order of their steps.
std::vector<std::filesystem::path> numbered_checkpoints(const std::filesystem::path& directory);

/// Keeps what `directory` holds of `files` as checkpoint-STEP, published at one moment, then removes the oldest
/// beyond `limit`. The files are linked where the file system can: they are replaced and never rewritten. A checkpoint
/// in which somebody trains on, or put something, keeps what is not its own.
/// Throws Error naming the path and the system's reason.
void keep_numbered(const std::filesystem::path& directory, const std::vector<std::filesystem::path>& files,
                   std::int64_t step, std::int64_t limit);

}  // namespace vkf
