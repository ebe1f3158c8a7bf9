// Token files: 16-bit tokens on disk, mapped, never copied as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/file.h"

namespace vkf {

/// A file of little-endian uint16 tokens, in either of two layouts told apart by their first bytes: nanoGPT's, which is
/// nothing but tokens, and llm.c's, whose header is 256 int32: 20240520, 1, number of tokens, zeros.
/// Throws: InputError naming the file if it is empty, odd-sized, cut short, or longer than its header says.
class TokenFile {
public:
    explicit TokenFile(const std::filesystem::path& path);

    std::span<const std::uint16_t> tokens() const { return tokens_; }
    const std::filesystem::path& path() const { return file_.path(); }

private:
    MappedFile file_;
    std::span<const std::uint16_t> tokens_;
};

/// The greatest of the tokens, 0 if there are none. Reads all of them, as fast as memory gives them.
std::uint16_t greatest_token(std::span<const std::uint16_t> tokens);

/// Writes nanoGPT's layout, atomically.
void write_tokens(const std::filesystem::path& path, std::span<const std::uint16_t> tokens);

}  // namespace vkf
