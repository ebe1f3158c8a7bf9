#include "models/data/text/npy.h"

#include <vector>

#include "models/data/text/tokens.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

/// Builds a file as np.save does: elements begin at a multiple of 64 bytes.
std::string npy(const std::string& dictionary, const std::string& elements, char version = 1) {
    std::string header = dictionary;
    const std::size_t before = version == 1 ? 10 : 12;
    header.resize((before + header.size() + 64) / 64 * 64 - before, ' ');
    header.back() = '\n';
    std::string bytes = std::string("\x93NUMPY") + version + '\0';
    for (std::size_t i = 0; i < before - 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
    return bytes + header + elements;
}

std::string dictionary(const std::string& type, const std::string& shape) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

const std::string BYTES("\3\0\x50\xc4\0\0\xff\xff\7\0", 10);  // 16-bit elements
const std::vector<std::uint16_t> TOKENS{3, 50256, 0, 65535, 7};

TEST(HostNpy, TokensAreReadAsTheyLie) {
    const Scratch scratch;
    const std::vector<std::uint32_t> wide{3, 128000};
    for (const char version : {'\1', '\2', '\3'}) {
        const TokenFile narrow(scratch.file("a.npy", npy(dictionary("<u2", "(5,)"), BYTES, version)));
        EXPECT_TRUE(narrow.tokens() == TOKENS);
        EXPECT_EQ(narrow.layout(), "16-bit tokens in NumPy's layout");
        const TokenFile file(scratch.file("b.npy", npy(dictionary("<u4", "(2,)"), {"\3\0\0\0\0\xf4\1\0", 8}, version)));
        EXPECT_TRUE(file.tokens() == wide);
        EXPECT_EQ(file.layout(), "32-bit tokens in NumPy's layout");
    }
    // The format allows another order and other spaces than np.save writes.
    const std::string other = npy("{'shape':   (5 , ), 'descr':'<u2','fortran_order':True}", BYTES);
    EXPECT_TRUE(TokenFile(scratch.file("c.npy", other)).tokens() == TOKENS);
    // Only the extension .npy tells the format: nanoGPT's tokens may begin with any number.
    EXPECT_EQ(TokenFile(scratch.file("d.bin", npy(dictionary("<u2", "(5,)"), BYTES))).tokens()[0], 0x4e93u);
}

TEST(HostNpy, SignedAndLongIntegersAreTokens) {
    const Scratch scratch;
    const auto with_width = [](std::size_t width, char sign) {
        std::string bytes;
        for (const int token : {3, 128}) bytes += static_cast<char>(token) + std::string(width - 1, sign);
        return bytes;
    };
    for (const auto& [type, width] : {std::pair("<i4", 4), std::pair("<i8", 8), std::pair("<u8", 8)}) {
        const auto bytes = with_width(static_cast<std::size_t>(width), 0);
        const TokenFile file(scratch.file("a.npy", npy(dictionary(type, "(2,)"), bytes)));
        EXPECT_TRUE(file.tokens() == std::vector<std::uint32_t>({3, 128})) << type;
        EXPECT_EQ(file.layout(), "32-bit tokens in NumPy's layout");
    }
    const fs::path below = scratch.file("a.npy", npy(dictionary("<i8", "(2,)"), with_width(8, '\xff')));
    expect_holds(complaint([&] { TokenFile file(below); }), "a.npy: token 0 is -253, wanted 0 to 2147483647");
}

TEST(HostNpy, MalformedFilesAreRefused) {
    struct Case {
        const char* reason;
        std::string bytes;
    };
    const std::string good = npy(dictionary("<u2", "(5,)"), BYTES);
    std::string later = good, longer = good;
    later[6] = 4;
    longer[9] = 1;
    const Case cases[] = {
        {"is empty", ""},
        {"does not begin as a .npy file does", BYTES},
        {"is cut short in its header", good.substr(0, 6)},
        {"is cut short in its header", good.substr(0, 40)},
        {"is cut short in its header", longer},
        {"format version 4, wanted 1, 2 or 3", later},
        {"names no type of elements", npy("{'fortran_order': False, 'shape': (5,), }", BYTES)},
        {"names no type of elements", npy("{'descr': [('a', '<u2')], 'shape': (5,), }", BYTES)},
        {"names no type of elements", npy("{'descr': '<u2", BYTES)},
        {"elements of type '<u', wanted numbers", npy(dictionary("<u", "(5,)"), BYTES)},
        {"elements of type '|O', wanted numbers", npy(dictionary("|O", "(5,)"), BYTES)},
        {"elements of type '', wanted numbers", npy(dictionary("", "(5,)"), BYTES)},
        {"elements of type '<u0', wanted numbers", npy(dictionary("<u0", "(5,)"), BYTES)},
        {"elements of type '<i2', wanted tokens: '<u2', '<u4'", npy(dictionary("<i2", "(5,)"), BYTES)},
        {"elements of type '>u2', wanted tokens", npy(dictionary(">u2", "(5,)"), BYTES)},
        {"has the shape (5, 1), wanted an array of one", npy(dictionary("<u2", "(5, 1)"), BYTES)},
        {"has the shape (), wanted an array of one", npy(dictionary("<u2", "()"), BYTES)},
        {"has the shape (-5,), wanted an array of one", npy(dictionary("<u2", "(-5,)"), BYTES)},
        {"has the shape (99999999999999999999,), wanted", npy(dictionary("<u2", "(99999999999999999999,)"), BYTES)},
        {"has the shape , wanted an array of one", npy("{'descr': '<u2', }", BYTES)},
        {"says 6 elements of 2 bytes, but 10 bytes follow", npy(dictionary("<u2", "(6,)"), BYTES)},
        {"says 4 elements of 2 bytes, but 10 bytes follow", npy(dictionary("<u2", "(4,)"), BYTES)},
        {"says 5 elements of 2 bytes, but 9 bytes follow", good.substr(0, good.size() - 1)},
        {"says 9223372036854775813 elements of 2 bytes, but", npy(dictionary("<u2", "(9223372036854775813,)"), BYTES)},
        {"has no tokens", npy(dictionary("<u2", "(0,)"), "")},
    };
    const Scratch scratch;
    for (const Case& bad : cases) {
        const fs::path path = scratch.file("bad.npy", bad.bytes);
        const auto message = complaint([&] { TokenFile{path}; });
        expect_holds(message, path.string());
        expect_holds(message, bad.reason);
    }
    std::string odd = dictionary("<u2", "(5,)") + "\n";
    if (odd.size() % 2 == 0) odd += ' ';
    const std::string bytes = std::string("\x93NUMPY\1") + '\0' + static_cast<char>(odd.size()) + '\0' + odd + BYTES;
    expect_holds(complaint([&] { TokenFile{scratch.file("odd.npy", bytes)}; }), "wanted a multiple of their size");
}

}  // namespace
}  // namespace vkf
