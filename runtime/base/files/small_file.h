// Small files in directories that may be of another origin: configurations, vocabularies, templates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace vkf {

/// Bytes that no valid file exceeds: the largest configurations have some hundred kilobytes, the largest vocabularies
/// some ten megabytes.
inline constexpr std::uint64_t CONFIG_LIMIT = 16 << 20, VOCABULARY_LIMIT = 256 << 20;

/// A symbolic link is followed, or refused like anything else that is not a regular file.
enum class Links { followed, refused };

/// Reads a regular file of at most `limit` bytes. Input files that the user names are read by read_text, which also
/// takes pipes and devices.
/// Throws: InputError naming the path, and its size and the limit if it is larger; also if it is not a regular file.
std::string read_small_text(const std::filesystem::path& path, std::uint64_t limit = CONFIG_LIMIT,
                            Links links = Links::followed);

}  // namespace vkf
