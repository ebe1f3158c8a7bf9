#include "models/data/text/tokens.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "models/data/text/npy.h"

namespace vkf {
namespace {

static_assert(std::endian::native == std::endian::little, "tokens are little-endian, read in place");

/// A layout of llm.c.
struct Headed {
    std::int32_t magic, version;
    std::size_t token_bytes;
};
constexpr Headed HEADED_16{20240520, 1, 2};  // GPT-2's
constexpr Headed HEADED_32{20240801, 7, 4};  // Llama 3's
using Header = std::array<std::int32_t, 256>;

/// Checks the header and returns the tokens after it.
std::span<const std::byte> behind_header(const std::string& file, std::span<const std::byte> bytes,
                                         const Headed& layout) {
    require(bytes.size() >= sizeof(Header), file, ": ", bytes.size(), " bytes are too few for llm.c's header of ",
            sizeof(Header));
    Header header;
    std::memcpy(header.data(), bytes.data(), sizeof header);
    const std::size_t bits = 8 * layout.token_bytes;
    require(header[1] == layout.version, file, ": llm.c version ", header[1], ", wanted ", layout.version, " (", bits,
            "-bit tokens)");
    bytes = bytes.subspan(sizeof header);
    const std::int64_t wanted = header[2] * static_cast<std::int64_t>(layout.token_bytes);
    require(header[2] > 0 && static_cast<std::int64_t>(bytes.size()) == wanted, file, ": header says ", header[2],
            " tokens (", wanted, " bytes), but ", bytes.size(), " bytes follow");
    return bytes;
}

/// Throws InputError if a header cannot count so many tokens.
void require_countable(const std::filesystem::path& path, std::uint64_t count) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    require(count <= most, path.string(), ": ", count, " tokens behind llm.c's header, wanted at most ", most);
}

void write_header(FileWriter& file, const Headed& layout, std::uint64_t count) {
    require_countable(file.path(), count);
    Header header{};
    header[0] = layout.magic;
    header[1] = layout.version;
    header[2] = static_cast<std::int32_t>(count);
    file.write(std::as_bytes(std::span(header)));
}

/// A mapping starts at a page and headers are multiples of a token, so the tokens are aligned.
template <class Token>
std::span<const Token> as_tokens(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const Token*>(bytes.data()), bytes.size() / sizeof(Token)};
}

/// True if a file's beginning looks like 32-bit tokens that are all below 2^16.
bool look_wide(std::span<const std::uint16_t> tokens) {
    constexpr std::size_t LEAST = 64, MOST = 1 << 16;
    if (tokens.size() < LEAST || tokens.size() % 2 != 0) return false;
    bool low = false, high = false;
    for (std::size_t i = 0; i < std::min(tokens.size(), MOST); ++i) (i % 2 == 0 ? low : high) |= tokens[i] != 0;
    return low && !high;
}

}  // namespace

TokenSpan::TokenSpan(const TokenList& list) {
    std::visit([&](const auto& tokens) { tokens_ = std::span(tokens); }, list);
}

std::size_t TokenSpan::size() const {
    return visit([](auto tokens) { return tokens.size(); });
}

std::uint32_t TokenSpan::operator[](std::size_t i) const {
    return visit([&](auto tokens) { return std::uint32_t{tokens[i]}; });
}

TokenSpan TokenSpan::subspan(std::size_t first, std::size_t count) const {
    return visit([&](auto tokens) { return TokenSpan(tokens.subspan(first, count)); });
}

void TokenSpan::copy_to(std::span<std::int32_t> out) const {
    visit([&](auto tokens) {
        require(out.size() == tokens.size(), "room for ", out.size(), " tokens, wanted ", tokens.size());
        std::ranges::transform(tokens, out.begin(), [](auto token) { return static_cast<std::int32_t>(token); });
    });
}

bool operator==(const TokenSpan& a, const TokenSpan& b) {
    return a.visit([&](auto left) { return b.visit([&](auto right) { return std::ranges::equal(left, right); }); });
}

TokenFile::TokenFile(const std::filesystem::path& path) : file_(path) {
    const std::string file = path.string();
    const std::span<const std::byte> bytes = file_.bytes();
    require(!bytes.empty(), file, ": is empty, wanted tokens");
    if (path.extension() == ".npy") {
        read_npy(npy_array(file, bytes));
        return;
    }
    std::int32_t magic = 0;
    std::memcpy(&magic, bytes.data(), std::min(bytes.size(), sizeof magic));
    if (magic == HEADED_32.magic) {
        tokens_ = as_tokens<std::uint32_t>(behind_header(file, bytes, HEADED_32));
        layout_ = "32-bit tokens behind llm.c's header";
        return;
    }
    const bool headed = magic == HEADED_16.magic;
    const auto narrow = headed ? behind_header(file, bytes, HEADED_16) : bytes;
    require(narrow.size() % 2 == 0, file, ": ", narrow.size(), " bytes, wanted whole 16-bit tokens");
    tokens_ = as_tokens<std::uint16_t>(narrow);
    require(headed || !look_wide(as_tokens<std::uint16_t>(narrow)), file, ": every second 16-bit token is 0, as in ",
            "32-bit tokens without a header: wanted llm.c's header before them, or a .npy file of them");
    layout_ = headed ? "16-bit tokens behind llm.c's header" : "16-bit tokens without a header";
}

void TokenFile::read_npy(const NpyArray& array) {
    const std::string file = path().string();
    require(!array.elements.empty(), file, ": has no tokens");
    if (array.type == "<u2") {
        tokens_ = as_tokens<std::uint16_t>(array.elements);
        layout_ = "16-bit tokens in NumPy's layout";
        return;
    }
    layout_ = "32-bit tokens in NumPy's layout";
    if (array.type == "<u4" || array.type == "<i4") {  // equal for valid tokens
        tokens_ = as_tokens<std::uint32_t>(array.elements);
        return;
    }
    require(array.type == "<i8" || array.type == "<u8", file, ": elements of type '", array.type,
            "', wanted tokens: '<u2', '<u4', '<i4', '<u8' or '<i8'");
    const auto wide = as_tokens<std::uint64_t>(array.elements);
    for (std::size_t i = 0; i < wide.size(); ++i)
        require(wide[i] <= std::uint64_t{std::numeric_limits<std::int32_t>::max()}, file, ": token ", i, " is ",
                static_cast<std::int64_t>(wide[i]), ", wanted 0 to ", std::numeric_limits<std::int32_t>::max());
    copied_.assign(wide.begin(), wide.end());
    tokens_ = TokenSpan(copied_);
}

bool has_token_extension(const std::filesystem::path& file) {
    return file.extension() == ".bin" || file.extension() == ".npy";
}

std::uint32_t greatest_token(TokenSpan tokens) {
    return tokens.visit([]<class Token>(std::span<const Token> list) {
        // Blocks of one known length become vector code, which keeps up with memory.
        constexpr std::size_t BLOCK = 1024;
        Token greatest = 0;
        const auto look = [&](const Token* from, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) greatest = std::max(greatest, from[i]);
        };
        const std::size_t blocks = list.size() / BLOCK;
        for (std::size_t block = 0; block < blocks; ++block) look(list.data() + block * BLOCK, BLOCK);
        look(list.data() + blocks * BLOCK, list.size() % BLOCK);
        return std::uint32_t{greatest};
    });
}

TokenList packed_tokens(std::span<const std::int32_t> tokens) {
    bool narrow = true;
    for (const std::int32_t token : tokens) {
        require(token >= 0, "token ", token, " is below 0");
        narrow = narrow && token <= std::numeric_limits<std::uint16_t>::max();
    }
    if (narrow) return std::vector<std::uint16_t>(tokens.begin(), tokens.end());
    return std::vector<std::uint32_t>(tokens.begin(), tokens.end());
}

void write_tokens(const std::filesystem::path& path, TokenSpan tokens) {
    tokens.visit([&]<class Token>(std::span<const Token> list) {
        write_atomically(path, [&](FileWriter& file) {
            if (sizeof(Token) == HEADED_32.token_bytes) write_header(file, HEADED_32, list.size());
            file.write(std::as_bytes(list));
        });
    });
}

TokenWriter::TokenWriter(const std::filesystem::path& path, std::size_t vocabulary_size, bool headed)
    : path_(path),
      wide_(vocabulary_size > std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1),
      headed_(headed || wide_ || vocabulary_size > std::size_t{static_cast<std::uint16_t>(HEADED_16.magic)}),
      file_(path, os::Open::create) {
    if (!file_.valid()) throw Error("cannot write ", path.string(), ": ", std::strerror(errno));
    if (headed_) write_header(0);
}

void TokenWriter::write_header(std::uint64_t count) {
    FileWriter file(file_, path_);
    vkf::write_header(file, wide_ ? HEADED_32 : HEADED_16, count);
}

void TokenWriter::append(std::span<const std::int32_t> tokens) {
    FileWriter file(file_, path_);
    count_ += tokens.size();
    if (headed_) require_countable(path_, count_);
    if (wide_) return file.write(std::as_bytes(tokens));
    const std::vector<std::uint16_t> narrow(tokens.begin(), tokens.end());
    file.write(std::as_bytes(std::span(narrow)));
}

void TokenWriter::finish() {
    const auto failed = [&] { throw Error("cannot write ", path_.string(), ": ", std::strerror(errno)); };
    if (headed_) {
        if (!os::rewind(file_)) failed();
        write_header(count_);
    }
    if (!file_.close()) failed();
}

}  // namespace vkf
