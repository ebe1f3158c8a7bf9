// Small files inside directories that somebody else may have made: configurations, vocabularies, templates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace vkf {

/// Bytes that no honest file exceeds: the largest configurations have some hundred kilobytes, the largest vocabularies
/// some ten megabytes.
inline constexpr std::uint64_t CONFIG_LIMIT = 16 << 20, VOCABULARY_LIMIT = 256 << 20;

/// A symbolic link in a file's place is read through, or is refused like anything else that is no regular file.
enum class Links { followed, refused };

/// The whole of a regular file of at most `limit` bytes. What the user names as input is read by read_text, which takes
/// pipes and devices too.
/// Throws: InputError naming the path, and its size and the limit if it is larger; also for what is no regular file.
std::string read_small_text(const std::filesystem::path& path, std::uint64_t limit = CONFIG_LIMIT,
                            Links links = Links::followed);

}  // namespace vkf
