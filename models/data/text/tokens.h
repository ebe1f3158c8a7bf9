// Token files: 16- or 32-bit tokens on disk, mapped, never copied as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/files/file.h"

namespace vkf {

struct NpyArray;

/// Tokens in memory: uint16 if their vocabulary has at most 65536, else uint32.
using TokenList = std::variant<std::vector<std::uint16_t>, std::vector<std::uint32_t>>;

/// View of tokens of either width; their owner must outlive it.
class TokenSpan {
public:
    TokenSpan() = default;
    TokenSpan(std::span<const std::uint16_t> tokens) : tokens_(tokens) {}
    TokenSpan(std::span<const std::uint32_t> tokens) : tokens_(tokens) {}
    TokenSpan(const std::vector<std::uint16_t>& tokens) : tokens_(std::span(tokens)) {}
    TokenSpan(const std::vector<std::uint32_t>& tokens) : tokens_(std::span(tokens)) {}
    TokenSpan(const TokenList& list);

    std::size_t size() const;
    bool empty() const { return size() == 0; }
    std::uint32_t operator[](std::size_t i) const;
    TokenSpan first(std::size_t count) const { return subspan(0, count); }
    TokenSpan subspan(std::size_t first) const { return subspan(first, size() - first); }
    TokenSpan subspan(std::size_t first, std::size_t count) const;
    /// Copies the tokens to as many integers, such as a program's input; 32-bit tokens must be below 2^31.
    void copy_to(std::span<std::int32_t> out) const;

    /// Calls the visitor with the tokens in memory: std::span<const std::uint16_t> or std::span<const std::uint32_t>.
    template <class Visitor>
    auto visit(Visitor&& visitor) const {
        return std::visit(visitor, tokens_);
    }

    /// True if both have the same tokens, of any width.
    friend bool operator==(const TokenSpan& a, const TokenSpan& b);

private:
    std::variant<std::span<const std::uint16_t>, std::span<const std::uint32_t>> tokens_;
};

/// A file of little-endian tokens. A .npy file is a NumPy array of uint16 or uint32, as build-nanogpt saves FineWeb's,
/// or of int32, int64 or uint64; 64-bit tokens are copied. Other files have one of three layouts, told apart by their
/// first bytes: nanoGPT's, which is nothing but uint16; and llm.c's, whose header is 256 int32: 20240520, 1, number of
/// tokens, zeros before uint16, or 20240801, 7, number of tokens, zeros before uint32.
/// Throws: InputError naming the file if it is empty, odd-sized, cut short, longer than its header says, an array of
/// something else, or looks like 32-bit tokens without a header.
class TokenFile {
public:
    explicit TokenFile(const std::filesystem::path& path);

    TokenSpan tokens() const { return tokens_; }
    /// The layout in words, "16-bit tokens behind llm.c's header".
    std::string_view layout() const { return layout_; }
    const std::filesystem::path& path() const { return file_.path(); }

private:
    void read_npy(const NpyArray& array);

    MappedFile file_;
    std::vector<std::uint32_t> copied_;
    TokenSpan tokens_;
    std::string_view layout_;
};

/// True if a file has tokens, not a text, by its name: .bin or .npy.
bool has_token_extension(const std::filesystem::path& file);

/// The largest token, 0 if there are none. Reads all of them, as fast as memory gives them.
std::uint32_t greatest_token(TokenSpan tokens);

/// The tokens in 16 bits if each of them fits, else in 32. Throws InputError naming a token below 0.
TokenList packed_tokens(std::span<const std::int32_t> tokens);

/// Writes 16-bit tokens in nanoGPT's layout and 32-bit ones in llm.c's, atomically. Throws InputError for more 32-bit
/// tokens than llm.c's header can count, 2^31 − 1.
void write_tokens(const std::filesystem::path& path, TokenSpan tokens);

/// A token file that grows. It has uint16 if a vocabulary of `vocabulary_size` fits, in nanoGPT's layout, or with
/// llm.c's header if that is wanted, or if the tokens could be mistaken for it; else uint32. For files that are
/// published together (base/files/managed_directory.h): until finish() the file is not valid. Throws: Error naming the
/// file and the system's reason; InputError for more tokens than a header can count.
class TokenWriter {
public:
    TokenWriter(const std::filesystem::path& path, std::size_t vocabulary_size, bool headed = false);

    /// Appends tokens of the vocabulary.
    void append(std::span<const std::int32_t> tokens);
    void finish();
    std::uint64_t count() const { return count_; }

private:
    void write_header(std::uint64_t count);

    std::filesystem::path path_;
    bool wide_, headed_;
    os::File file_;
    std::uint64_t count_ = 0;
};

}  // namespace vkf
