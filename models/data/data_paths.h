// Directories of this machine that may already hold real data.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace vkf {

/// Directories in which data is searched, in this order: $VKFORMER_DATA if it is set; data/; the user's data directory,
/// $XDG_DATA_HOME/vkformer or else ~/.local/share/vkformer; the system's, vkformer in each of $XDG_DATA_DIRS or else in
/// /usr/local/share and /usr/share. Relative paths in XDG's variables are ignored, as its rules demand.
std::vector<std::filesystem::path> data_folders();

/// These directories in words, for messages.
inline constexpr const char* DATA_FOLDERS = "$VKFORMER_DATA, data/ or the user's or the system's data directory";

/// Path of `name` below the first of these directories that has it; nothing if none has it.
std::optional<std::filesystem::path> find_data(const std::filesystem::path& name);

}  // namespace vkf
