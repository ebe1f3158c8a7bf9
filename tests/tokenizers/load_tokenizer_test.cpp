#include "models/tokenizers/load_tokenizer.h"

#include <algorithm>

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

TEST(HostLoadTokenizer, ADirectoryMayHaveATokenizerForEachSide) {
    const Scratch scratch;
    const std::string config = R"({"eos_token": "<x>", "added_tokens_decoder": {"4": {"content": "<x>"}}})";
    const std::map<std::string, std::string> contents{{"source.vocab.json", VOCABULARY},
                                                      {"source.merges.txt", "a b\n"},
                                                      {"source.tokenizer_config.json", config},
                                                      {"source.chat_template.jinja", "x"}};
    for (const auto& [name, content] : contents) scratch.file(name, content);
    scratch.file("target.bpe.codes", "#version: 0.2\na b\n");
    scratch.file("tokenizer_config.json", R"({"eos_token": "a"})");  // of neither
    const SavedTokenizer source = load_tokenizer(scratch.path(), "source.");
    EXPECT_EQ(source.files, contents);
    EXPECT_EQ(source.path, scratch.path() / "source.vocab.json");
    EXPECT_EQ(source->encode("ab<x>"), (Tokens{2, 4}));
    EXPECT_EQ(source->end_of_text(), 4);
    EXPECT_EQ(load_tokenizer(scratch.path() / "source.merges.txt", "source.").files, contents);
    const SavedTokenizer target = find_tokenizer(scratch.path(), "target.").value();
    EXPECT_EQ(target->encode("ab"), (Tokens{4, 7}));
    EXPECT_EQ(target.files.size(), 1u);
    EXPECT_FALSE(find_tokenizer(scratch.path()));
    EXPECT_FALSE(find_tokenizer(scratch.path(), "tar"));
    expect_holds(complaint([&] { load_tokenizer(scratch.path(), "other."); }), ", with other. before each name");
    expect_holds(complaint([&] { load_tokenizer(scratch.path() / "source.vocab.json", "target."); }),
                 "source.vocab.json: has the name of no tokenizer's file");
    scratch.file("target.chars.json", "{");
    expect_holds(complaint([&] { load_tokenizer(scratch.path() / "target.chars.json", "target."); }),
                 "target.chars.json is not JSON");

    // The same tokenizer for both sides, and for a directory of its own.
    const auto copied = files_with_prefix(source, TARGET_PREFIX), plain = files_with_prefix(source, "");
    EXPECT_EQ(copied.size(), contents.size());
    for (const auto& [name, content] : copied) scratch.file(fs::path("both") / name, content);
    for (const auto& [name, content] : plain) scratch.file(fs::path("plain") / name, content);
    const SavedTokenizer again = load_tokenizer(scratch.path() / "both", TARGET_PREFIX);
    EXPECT_EQ(again->difference(*source), "");
    EXPECT_EQ(again->end_of_text(), 4);
    EXPECT_EQ(files_with_prefix(again, SOURCE_PREFIX), contents);
    EXPECT_EQ(load_tokenizer(scratch.path() / "plain").files, plain);
    EXPECT_TRUE(plain.contains("vocab.json"));
}

TEST(HostLoadTokenizer, AllNamesAreListedOnceForEachSide) {
    const std::vector<std::string> names = tokenizer_files();
    for (const char* name : {"bpe.codes", "source.bpe.codes", "target.bpe.codes", "source.added_tokens.json"})
        EXPECT_EQ(std::ranges::count(names, name), 1) << name;
    EXPECT_EQ(names.size() % 3, 0u);
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
