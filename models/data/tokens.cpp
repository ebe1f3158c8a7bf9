#include "models/data/tokens.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.h"

namespace vkf {
namespace {

static_assert(std::endian::native == std::endian::little, "tokens are little-endian, read in place");

constexpr std::size_t HEADER_BYTES = 256 * sizeof(std::int32_t);
constexpr std::int32_t GPT2_MAGIC = 20240520;
constexpr std::int32_t LLAMA3_MAGIC = 20240801;  // llm.c's files of 32-bit tokens

}  // namespace

TokenFile::TokenFile(const std::filesystem::path& path) : file_(path) {
    const std::string file = path.string();
    std::span<const std::byte> bytes = file_.bytes();
    require(!bytes.empty(), file, ": is empty, wanted tokens");
    std::array<std::int32_t, 3> header = {};  // magic, version, count
    std::memcpy(header.data(), bytes.data(), std::min(bytes.size(), sizeof header));
    require(header[0] != LLAMA3_MAGIC, file, ": holds llm.c's 32-bit tokens, wanted 16-bit tokens");
    if (header[0] == GPT2_MAGIC) {
        require(bytes.size() >= HEADER_BYTES, file, ": ", bytes.size(), " bytes are too few for llm.c's header of ",
                HEADER_BYTES);
        require(header[1] == 1, file, ": llm.c version ", header[1], ", wanted 1 (16-bit tokens)");
        bytes = bytes.subspan(HEADER_BYTES);
        const std::int64_t wanted = std::int64_t{header[2]} * 2;
        require(header[2] > 0 && static_cast<std::int64_t>(bytes.size()) == wanted, file, ": header says ", header[2],
                " tokens (", wanted, " bytes), but ", bytes.size(), " bytes follow");
    }
    require(bytes.size() % 2 == 0, file, ": ", bytes.size(), " bytes, wanted whole 16-bit tokens");
    // A mapping starts at a page and the header is 1 KiB, so the tokens are aligned.
    tokens_ = {reinterpret_cast<const std::uint16_t*>(bytes.data()), bytes.size() / 2};
}

std::uint16_t greatest_token(std::span<const std::uint16_t> tokens) {
    // Blocks of one known length become vector code, which keeps up with memory.
    constexpr std::size_t BLOCK = 1024;
    std::uint16_t greatest = 0;
    const auto look = [&](const std::uint16_t* from, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) greatest = std::max(greatest, from[i]);
    };
    const std::size_t blocks = tokens.size() / BLOCK;
    for (std::size_t block = 0; block < blocks; ++block) look(tokens.data() + block * BLOCK, BLOCK);
    look(tokens.data() + blocks * BLOCK, tokens.size() % BLOCK);
    return greatest;
}

void write_tokens(const std::filesystem::path& path, std::span<const std::uint16_t> tokens) {
    write_atomically(path, [&](FileWriter& file) { file.write(std::as_bytes(tokens)); });
}

}  // namespace vkf
