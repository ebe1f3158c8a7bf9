#include "models/tokenizers/load_tokenizer.h"

#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

constexpr const char* VOCABULARY = R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3})";

TEST(HostLoadTokenizer, ATokenizerComesWithItsFilesAndNoOthers) {
    const Scratch scratch;
    scratch.file("encoder.json", VOCABULARY);
    scratch.file("vocab.bpe", "a b\n");
    scratch.file("chars.json", R"({"type": "chars", "chars": ["a", "b"]})");
    scratch.file("config.json", "{}");
    const std::map<std::string, std::string> files{{"encoder.json", VOCABULARY}, {"vocab.bpe", "a b\n"}};
    for (const fs::path& path : {scratch.path(), scratch.path() / "encoder.json", scratch.path() / "vocab.bpe"}) {
        const SavedTokenizer saved = load_tokenizer(path);
        EXPECT_EQ(saved.files, files);
        EXPECT_EQ(saved.path, scratch.path() / "encoder.json");
        EXPECT_EQ(saved->encode("ab"), Tokens{2});
    }
    const SavedTokenizer characters = load_tokenizer(scratch.path() / "chars.json");
    EXPECT_EQ(characters->encode("ab"), (Tokens{0, 1}));
    EXPECT_EQ(characters.files.size(), 1u);
    expect_holds(complaint([&] { load_tokenizer(scratch.path() / "config.json"); }), "has the name of no tokenizer");
    expect_holds(complaint([&] { load_tokenizer(scratch.path() / "none"); }), "none: does not exist, wanted");
    fs::create_directory(scratch.path() / "empty");
    EXPECT_FALSE(find_tokenizer(scratch.path() / "empty"));
}

TEST(HostLoadTokenizer, VocabulariesDifferByTheirBytes) {
    const Scratch scratch;
    const auto difference = [&](const std::string& mine, const std::string& wanted) {
        scratch.file("mine/vocab.json", mine);
        scratch.file("wanted/vocab.json", wanted);
        scratch.file("mine/merges.txt", "");
        scratch.file("wanted/merges.txt", "");
        return load_tokenizer(scratch.path() / "mine")->difference(*load_tokenizer(scratch.path() / "wanted"));
    };
    EXPECT_EQ(difference(VOCABULARY, VOCABULARY), "");
    EXPECT_EQ(difference(R"({"a": 0})", R"({"b": 0})"), "token 0 is 'a' (U+0061), wanted 'b' (U+0062)");
    EXPECT_EQ(difference(R"({"a": 0, "ab": 1})", R"({"a": 0})"), "token 1 is \"ab\", wanted none");
    EXPECT_EQ(difference(R"({"a": 0})", R"({"a": 0, "\u00ff": 1})"), "token 1 is missing, wanted \"\\ufffd\"");
}

}  // namespace
}  // namespace vkf
