#include "models/data/text/tokens.h"

#include <algorithm>
#include <vector>

#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

std::string little_endian(std::uint64_t value, int bytes) {
    std::string result;
    for (int i = 0; i < bytes; ++i) result += static_cast<char>(value >> (8 * i) & 0xff);
    return result;
}

template <class Token = std::uint16_t>
std::string llmc(std::uint32_t magic, std::uint32_t version, std::uint32_t count, const std::vector<Token>& tokens) {
    std::string bytes = little_endian(magic, 4) + little_endian(version, 4) + little_endian(count, 4);
    bytes.resize(1024);
    for (const Token token : tokens) bytes += little_endian(token, sizeof token);
    return bytes;
}

TEST(HostTokens, BothLayoutsGiveTheSameTokens) {
    const Scratch scratch;
    const std::vector<std::uint16_t> tokens = {3, 50256, 0, 65535, 7};
    const std::string headed = llmc(20240520, 1, 5, tokens);
    for (const std::string& bytes : {headed, headed.substr(1024)}) {
        const TokenFile file(scratch.file("x.bin", bytes));
        EXPECT_TRUE(file.tokens() == tokens);
        EXPECT_EQ(greatest_token(file.tokens()), 65535u);
    }
    write_tokens(scratch.path() / "y.bin", tokens);
    EXPECT_EQ(read_text(scratch.path() / "y.bin"), headed.substr(1024));
}

TEST(HostTokens, TheHeaderTells32BitTokens) {
    const Scratch scratch;
    const std::vector<std::uint32_t> tokens = {3, 128000, 0, 65536, 0xffffffff};
    const std::string bytes = llmc<std::uint32_t>(20240801, 7, 5, tokens);
    const TokenFile file(scratch.file("x.bin", bytes));
    EXPECT_TRUE(file.tokens() == tokens);
    EXPECT_EQ(greatest_token(file.tokens()), 0xffffffffu);
    write_tokens(scratch.path() / "y.bin", tokens);
    EXPECT_EQ(read_text(scratch.path() / "y.bin"), bytes);
}

TEST(HostTokens, WideOnesWithoutAHeaderAreNoticed) {
    const Scratch scratch;
    std::string wide, narrow;
    for (std::uint32_t token = 0; token < 40; ++token) wide += little_endian(token * 1000, 4);
    expect_holds(complaint([&] { TokenFile file(scratch.file("x.bin", wide)); }),
                 "x.bin: every second 16-bit token is 0, as in 32-bit tokens without a header");
    for (std::uint16_t token = 0; token < 80; ++token) narrow += little_endian(token, 2);
    EXPECT_EQ(TokenFile(scratch.file("x.bin", narrow)).tokens().size(), 80u);
    EXPECT_EQ(TokenFile(scratch.file("x.bin", std::string(200, '\0'))).tokens().size(), 100u);
    EXPECT_EQ(TokenFile(scratch.file("x.bin", wide.substr(0, 40))).tokens().size(), 20u);  // too few to tell the format
}

TEST(HostTokens, ArePackedInAsFewBitsAsTheyNeed) {
    EXPECT_EQ(packed_tokens(std::vector{0, 65535}), TokenList(std::vector<std::uint16_t>{0, 65535}));
    EXPECT_EQ(packed_tokens(std::vector{0, 65536}), TokenList(std::vector<std::uint32_t>{0, 65536}));
    EXPECT_EQ(packed_tokens({}), TokenList(std::vector<std::uint16_t>{}));
    expect_holds(complaint([] { packed_tokens(std::vector{4, -1}); }), "token -1 is below 0");
}

TEST(HostTokens, FilesGrowAndAreReadAsTheyWereWritten) {
    const Scratch scratch;
    const fs::path path = scratch.path() / "x.bin";
    struct Case {
        std::size_t vocabulary;
        std::int32_t last;
        std::size_t header, token_bytes;
    };
    // nanoGPT's tokens 55432 and 308 have the same bytes as llm.c's magic.
    for (const Case& made : {Case{50257, 50256, 0, 2}, Case{55432, 55431, 0, 2}, Case{55433, 55432, 1024, 2},
                             Case{65536, 65535, 1024, 2}, Case{65537, 65536, 1024, 4}}) {
        fs::remove(path);
        TokenWriter writer(path, made.vocabulary);
        writer.append(std::vector{made.last, 308});
        writer.append({});
        writer.append(std::vector{7});
        EXPECT_EQ(writer.count(), 3u);
        writer.finish();
        EXPECT_EQ(fs::file_size(path), made.header + 3 * made.token_bytes);
        const std::vector<std::uint32_t> wanted{static_cast<std::uint32_t>(made.last), 308, 7};
        EXPECT_TRUE(TokenFile(path).tokens() == wanted) << made.vocabulary;
    }
    expect_holds(complaint<Error>([&] { TokenWriter(path, 5); }), "x.bin: File exists");
}

TEST(HostTokens, TheGreatestIsFoundWhereverItStands) {
    for (const std::size_t size : {1u, 7u, 1023u, 1024u, 1025u, 5000u}) {
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
            std::vector<std::uint16_t> tokens(size, 32767);
            tokens[at] = 32768;  // too large only if read as unsigned
            EXPECT_EQ(greatest_token(tokens), 32768u) << at << " of " << size;
        }
    }
    EXPECT_EQ(greatest_token({}), 0u);
}

TEST(HostTokens, AFileShorterThanAHeaderIsNanoGpts) {
    const Scratch scratch;
    const TokenFile file(scratch.file("x.bin", little_endian(513, 2)));
    ASSERT_EQ(file.tokens().size(), 1u);
    EXPECT_EQ(file.tokens()[0], 513u);
}

TEST(HostTokens, MalformedFilesAreRefused) {
    struct Case {
        const char* reason;
        std::string bytes;
    };
    const Case cases[] = {
        {"is empty", ""},
        {"1 bytes, wanted whole", "a"},
        {"5 bytes, wanted whole", "abcde"},
        {"too few for llm.c's header", llmc(20240520, 1, 1, {1}).substr(0, 4)},
        {"too few for llm.c's header", llmc(20240520, 1, 1, {1}).substr(0, 1023)},
        {"version 2, wanted 1", llmc(20240520, 2, 1, {1})},
        {"says 2 tokens (4 bytes), but 2", llmc(20240520, 1, 2, {1})},
        {"says 1 tokens (2 bytes), but 4", llmc(20240520, 1, 1, {1, 2})},
        {"says 1 tokens (2 bytes), but 3", llmc(20240520, 1, 1, {1}) + "x"},
        {"says 0 tokens", llmc(20240520, 1, 0, {})},
        {"says -2147483648 tokens", llmc(20240520, 1, 0x80000000, {1})},
        {"version 1, wanted 7 (32-bit tokens)", llmc<std::uint32_t>(20240801, 1, 1, {1})},
        {"too few for llm.c's header", llmc(20240801, 7, 1, {1}).substr(0, 1023)},
        {"says 1 tokens (4 bytes), but 2", llmc(20240801, 7, 1, {1})},
        {"says 2 tokens (8 bytes), but 12", llmc<std::uint32_t>(20240801, 7, 2, {1, 2, 3})},
    };
    const Scratch scratch;
    for (const Case& bad : cases) {
        const fs::path path = scratch.file("bad.bin", bad.bytes);
        const auto message = complaint([&] { TokenFile{path}; });
        expect_holds(message, path.string());
        expect_holds(message, bad.reason);
    }
}

}  // namespace
}  // namespace vkf
