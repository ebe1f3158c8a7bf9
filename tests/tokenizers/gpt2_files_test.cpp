#include "models/tokenizers/bpe/gpt2_files.h"

#include "models/tokenizers/bpe/byte_level.h"
#include "models/tokenizers/load_tokenizer.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using test::Scratch;

const std::string VOCABULARY = R"({"a": 0, "b": 1, "ab": 2, "\u0120": 3, "\u0120a": 4, "<|endoftext|>": 5})";
const std::string MERGES = "#version: 0.2\na b\n\u0120 a\n";

TEST(HostGpt2Files, AreReadWithTheirEndOfText) {
    const Scratch scratch;
    const auto vocabulary = scratch.file("vocab.json", VOCABULARY), merges = scratch.file("merges.txt", MERGES);
    const BpeTokenizer tokenizer(read_gpt2_files(vocabulary, merges));
    EXPECT_EQ(tokenizer.size(), 6u);
    EXPECT_EQ(tokenizer.encode("ab ab a"), (Tokens{2, 3, 2, 4}));
    EXPECT_EQ(tokenizer.bytes(4), " a");
    EXPECT_EQ(tokenizer.end_of_text(), 5);
    EXPECT_EQ(tokenizer.begin_of_text(), std::nullopt);
    EXPECT_EQ(load_tokenizer(scratch.path())->encode("ab ab a"), (Tokens{2, 3, 2, 4}));
    // Without the version line, and with a merge that looks like one.
    const auto other = scratch.file("other", R"({"#": 0, "v": 1, "#v": 2})");
    EXPECT_EQ(BpeTokenizer(read_gpt2_files(other, scratch.file("m", "# v"))).encode("#v#"), (Tokens{0, 1, 0}));
}

TEST(HostGpt2Files, OtherFilesAddTokens) {
    const Scratch scratch;
    scratch.file("vocab.json", VOCABULARY);
    scratch.file("merges.txt", MERGES);
    scratch.file("added_tokens.json", R"({"<|user|>": 6, "<|bot|>": 7, "::": 8})");
    scratch.file("special_tokens_map.json",
                 R"({"eos_token": "<|bot|>", "additional_special_tokens": ["<|user|>"], "pad_token": "[PAD]"})");
    SavedTokenizer saved = load_tokenizer(scratch.path());
    EXPECT_EQ(saved->encode("<|user|>ab<|bot|>", SpecialNames::tokens), (Tokens{6, 2, 7}));
    EXPECT_EQ(saved->encode("a::b"), (Tokens{0, 8, 1}));  // not special
    EXPECT_EQ(saved->end_of_text(), 7);
    EXPECT_EQ(saved->added_token("<|endoftext|>"), 5);
    EXPECT_EQ(saved.files.size(), 4u);
    // A token of the vocabulary becomes an added token, and the configuration has priority over the map.
    scratch.file("tokenizer_config.json", R"({"add_bos_token": true, "bos_token": "ab", "eos_token": "<|endoftext|>",
        "added_tokens_decoder": {"9": {"content": "<x>", "special": true}}, "tokenizer_class": "GPT2Tokenizer"})");
    scratch.file("chat_template.jinja", "x");
    saved = load_tokenizer(scratch.path());
    EXPECT_EQ(saved->encode("ab<x>", SpecialNames::tokens), (Tokens{2, 9}));
    EXPECT_EQ(saved->begin_of_text(), 2);
    EXPECT_EQ(saved->end_of_text(), 5);
    EXPECT_TRUE(saved.files.contains("chat_template.jinja"));
    const auto refused = [&](const char* name, const char* content, const char* reason) {
        scratch.file(name, content);
        expect_holds(complaint([&] { load_tokenizer(scratch.path()); }), reason);
    };
    refused("added_tokens.json", R"({"<|user|>": 7})", "no token is");
    refused("added_tokens.json", R"({"ab": 6})", "added_tokens.json: ab is 6, wanted 2 as in");
    refused("added_tokens.json", R"({"<|user|>": "6"})", "added_tokens.json: <|user|> is \"6\", wanted an integer");
    refused("added_tokens.json", "[]", "added_tokens.json is [], wanted an object");
    refused("special_tokens_map.json", R"({"mask_token": {"content": "a", "lstrip": true}})",
            "special_tokens_map.json: mask_token.lstrip is true, wanted false");
    refused("tokenizer_config.json", R"({"added_tokens_decoder": {"9x": {"content": "<x>"}}})",
            "wanted the number of a token as its key");
}

TEST(HostGpt2Files, SpellEveryByteAsOneCharacter) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    EXPECT_EQ(read_bytes(spell_bytes(bytes)), bytes);
    EXPECT_EQ(spell_bytes("a \n~"), "a\u0120\u010a~");
    EXPECT_EQ(spell_bytes("\x7f\xa0\xad\xff"), "\u0121\u0142\u0143\u00ff");
    EXPECT_EQ(bytes_in_character_order()[0], '!');
    EXPECT_EQ(bytes_in_character_order()[188], 0);
    EXPECT_EQ(read_bytes("a b"), std::nullopt);
    EXPECT_EQ(read_bytes("\u20ac"), std::nullopt);
}

TEST(HostGpt2Files, BrokenOnesAreRefused) {
    struct Case {
        const char* reason;
        std::string vocabulary, merges;
    };
    const Case cases[] = {
        {"vocab.json is not JSON", "{", MERGES},
        {"vocab.json has \"a\" twice", R"({"a": 0, "a": 1})", ""},
        {"vocab.json: found [], wanted an object", "[]", ""},
        {"vocab.json: found {}, wanted an object", "{}", ""},
        {"vocab.json: \"b\" is \"1\", wanted the number of a token", R"({"a": 0, "b": "1"})", ""},
        {"vocab.json: \"b\" is 1.5, wanted the number of a token", R"({"a": 0, "b": 1.5})", ""},
        {"vocab.json: \"b\" is -1, wanted the number of a token", R"({"a": 0, "b": -1})", ""},
        {"vocab.json: \"b\" is 4294967296, wanted the number", R"({"a": 0, "b": 4294967296})", ""},
        {"vocab.json: no token is 1, but \"b\" is 2; wanted 0 to 1 for 2 tokens", R"({"a": 0, "b": 2})", ""},
        {"are both 0, wanted a number for each", R"({"a": 0, "b": 0})", ""},
        {"merges.txt: line 2: found \"a\", wanted two tokens", VOCABULARY, "#version: 0.2\na\n"},
        {"merges.txt: line 1: found \"a b c\", wanted two tokens", VOCABULARY, "a b c\n"},
        {"merges.txt: line 2: found \"\", wanted two tokens", VOCABULARY, "a b\n\n\u0120 a\n"},
        {"line 2 merges \"a\" and \"x\", but \"x\" is not in the vocabulary", VOCABULARY, "a b\na x\n"},
        {"line 1 merges \"b\" and \"a\", but \"ba\" is not in the vocabulary", VOCABULARY, "b a\n"},
        {"line 3 merges \"a\" and \"b\" a second time", VOCABULARY, "#version: 0.2\na b\na b\n"},
        {"merges.txt: is not UTF-8 at byte 2", VOCABULARY, "a \xff\n"},
    };
    const Scratch scratch;
    for (const Case& bad : cases) {
        const auto vocabulary = scratch.file("vocab.json", bad.vocabulary),
                   merges = scratch.file("merges.txt", bad.merges);
        const auto message = complaint([&] { read_gpt2_files(vocabulary, merges); });
        expect_holds(message, bad.reason);
        expect_holds(message, scratch.path().string());
    }
    std::filesystem::remove(scratch.path() / "merges.txt");
    expect_holds(complaint([&] { load_tokenizer(scratch.path()); }), "merges.txt: No such file");
    std::filesystem::remove(scratch.path() / "vocab.json");
    expect_holds(complaint([&] { load_tokenizer(scratch.path()); }), "has no tokenizer, wanted tokenizer.json");
    scratch.file("chars.json", R"({"type": "chars", "chars": ["a", "b"]})");
    EXPECT_EQ(load_tokenizer(scratch.path())->encode("ba"), (Tokens{1, 0}));
}

}  // namespace
}  // namespace vkf
