// Where real data may already lie on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace vkf {

/// The folders that data is looked for in, in this order: $VKFORMER_DATA if it is set; data/; the user's data
/// directory, $XDG_DATA_HOME/vkformer or else ~/.local/share/vkformer; the system's, vkformer in each of $XDG_DATA_DIRS
/// or else in /usr/local/share and /usr/share. Relative paths in XDG's variables are passed over, as its rules want.
std::vector<std::filesystem::path> data_folders();

/// The same in words, for messages.
inline constexpr const char* DATA_FOLDERS = "$VKFORMER_DATA, data/ or the user's or the system's data directory";

/// `name`, a path below one of these folders, in the first that has it, or nothing.
std::optional<std::filesystem::path> find_data(const std::filesystem::path& name);

}  // namespace vkf
