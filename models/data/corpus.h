// Where real data may already lie on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace vkf {

/// $VKFORMER_DATA if it is set, data/ and ../shared/data, in the order in which they are looked through.
std::vector<std::filesystem::path> data_folders();

/// The first of $VKFORMER_DATA, data/ and ../shared/data that holds `name` (a path below it), or nothing.
std::optional<std::filesystem::path> find_data(const std::filesystem::path& name);

/// tinyshakespeare's input.txt (1,115,394 bytes; other files of that name are passed over),
/// directly in one of those folders or in tinyshakespeare/ below it, or nothing.
std::optional<std::filesystem::path> find_tinyshakespeare();

}  // namespace vkf
