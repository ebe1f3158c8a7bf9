// subword-nmt's byte-pair codes, compared with tests/golden/make_subword_tokens.py.
#include "models/tokenizers/bpe/subword_nmt.h"

#include <algorithm>

#include "base/random.h"
#include "models/tokenizers/encoder.h"
#include "models/tokenizers/load_tokenizer.h"
#include "models/tokenizers/text_decoder.h"
#include "tests/golden.h"
#include "tests/tokenizers/vocabularies.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using test::Scratch;

const std::string CODES = "#version: 0.2\na b\nab c</w>\nb c</w>\n";

SubwordNmt read(const Scratch& scratch, const std::string& codes) {
    return SubwordNmt(SubwordCodes::read(scratch.file("bpe.codes", codes)));
}

// A token as subword-nmt writes it: inside a word with the suffix @@.
std::string shown(const Tokenizer& tokenizer, std::int32_t token) {
    std::string bytes = tokenizer.bytes(token);
    if (token < 4) return bytes;
    if (!bytes.ends_with(' ')) return bytes + "@@";
    bytes.pop_back();
    return bytes;
}

std::vector<std::string> shown(const Tokenizer& tokenizer, const Tokens& tokens) {
    std::vector<std::string> symbols;
    for (const std::int32_t token : tokens) symbols.push_back(shown(tokenizer, token));
    return symbols;
}

Tokens in_portions(const Tokenizer& tokenizer, std::string_view text, std::size_t portion) {
    Tokens tokens;
    Encoder encoder(tokenizer);
    for (std::size_t at = 0; at < text.size(); at += portion) encoder.feed(text.substr(at, portion), tokens);
    encoder.finish(tokens);
    return tokens;
}

TEST(HostSubwordNmt, TheVocabularyFollowsFromTheCodes) {
    const Scratch scratch;
    const SubwordNmt tokenizer = read(scratch, CODES);
    const std::vector<std::string> wanted{"<s>", "<pad>", "</s>", "<unk>", "a",    "a ", "b",
                                          "b ",  "ab",    "c",    "c ",    "abc ", "bc "};
    std::vector<std::string> found;
    for (std::int32_t token = 0; token < static_cast<std::int32_t>(tokenizer.size()); ++token)
        found.push_back(tokenizer.bytes(token));
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(tokenizer.begin_of_text(), 0);
    EXPECT_EQ(tokenizer.end_of_text(), 2);
    EXPECT_EQ(tokenizer.closing_token(), std::nullopt);
    for (std::int32_t token = 0; token < 4; ++token)
        EXPECT_EQ(tokenizer.added_token(wanted[static_cast<std::size_t>(token)]), token);
    EXPECT_EQ(tokenizer.encode("abc"), (Tokens{11}));
    EXPECT_EQ(tokenizer.encode("abcb bbc"), (Tokens{8, 9, 7, 6, 12}));
    EXPECT_EQ(tokenizer.encode("<s>", SpecialNames::tokens), (Tokens{0}));
    EXPECT_EQ(tokenizer.encode("<s>"), (Tokens{3, 3, 3}));
    EXPECT_EQ(tokenizer.encode("ab</s>a", SpecialNames::tokens), (Tokens{4, 7, 2, 5}));
    EXPECT_EQ(load_tokenizer(scratch.path())->difference(tokenizer), "");
    EXPECT_EQ(load_tokenizer(scratch.path()).files.at("bpe.codes"), CODES);
}

TEST(HostSubwordNmt, SymbolsAreThoseOfAnIndependentProgram) {
    const Scratch scratch;
    const nlohmann::json golden = test::read_json(test::golden / "subword_tokens.json");
    for (const char* name : {"learnt", "learnt, version 0.1", "backward"}) {
        const nlohmann::json& wanted = golden[name];
        const SubwordNmt tokenizer = read(scratch, wanted["codes"]);
        ASSERT_EQ(tokenizer.size(), wanted["vocabulary"].size()) << name;
        for (std::size_t token = 0; token < tokenizer.size(); ++token)
            EXPECT_EQ(shown(tokenizer, static_cast<std::int32_t>(token)), wanted["vocabulary"][token]) << name;
        ASSERT_GT(wanted["texts"].size(), 5u);
        for (const nlohmann::json& pair : wanted["texts"]) {
            const std::string text = pair[0];
            EXPECT_EQ(nlohmann::json(shown(tokenizer, tokenizer.encode(text))), pair[1]) << name << ": " << text;
            for (const std::size_t portion : {1, 2, 3, 7})
                EXPECT_EQ(in_portions(tokenizer, text, portion), tokenizer.encode(text)) << name << ": " << text;
        }
    }
}

TEST(HostSubwordNmt, TheTokensOfMulti30kAreThoseOfAnIndependentProgram) {
    VKF_NEEDS("multi30k/bpe-codes.en-de");
    const Scratch scratch;
    const nlohmann::json golden = test::read_json(test::golden / "subword_tokens.json")["multi30k"];
    const SubwordNmt tokenizer(SubwordCodes::read(test::data_file(scratch, "multi30k/bpe-codes.en-de")));
    EXPECT_EQ(tokenizer.size(), golden["size"]);
    for (const auto& [path, wanted] : golden["texts"].items()) {
        const std::string text = read_text(test::data_file(scratch, "multi30k/" + path));
        const Tokens tokens = in_portions(tokenizer, text, 10007);
        const std::string bytes(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof tokens[0]);
        char hash[20];
        std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_name(bytes)));
        EXPECT_EQ(nlohmann::json({{"tokens", tokens.size()}, {"hash", hash}}), wanted) << path;
        std::string words = text;
        std::ranges::replace(words, '\n', ' ');
        words.erase(words.find_last_not_of(' ') + 1);
        if (std::ranges::find(tokens, 3) == tokens.end()) {
            EXPECT_EQ(tokenizer.decode(tokens), words) << path;
        }
    }
}

TEST(HostSubwordNmt, DecodingPutsOneSpaceBetweenWords) {
    const Scratch scratch;
    const SubwordNmt tokenizer = read(scratch, CODES);
    const auto decoded = [&](const std::string& text) {
        const Tokens tokens = tokenizer.encode(text);
        TextDecoder decoder(tokenizer);
        std::string streamed;
        for (const std::int32_t token : tokens) {
            streamed += decoder.feed(token);
            EXPECT_FALSE(streamed.ends_with(' ')) << text;
        }
        streamed += decoder.finish();
        EXPECT_EQ(streamed, tokenizer.decode(tokens)) << text;
        return streamed;
    };
    EXPECT_EQ(decoded("  abc\r\n\r\nbc a  cab\n"), "abc bc a cab");
    EXPECT_EQ(decoded("a"), "a");
    EXPECT_EQ(decoded(" \n"), "");
    EXPECT_EQ(decoded("a bz b"), "a b<unk>b");
    EXPECT_EQ(tokenizer.decode(Tokens{0, 11, 2}), "<s>abc </s>");
}

TEST(HostSubwordNmt, AWordOfAnyLengthIsMergedFast) {
    // Each of these words takes hours if every join searches the whole word.
    const Scratch scratch;
    std::string codes = "#version: 0.2\n";
    for (std::string part = "a"; part.size() < 1000; part += part) codes += text(part, " ", part, "\n");
    const SubwordNmt tokenizer = read(scratch, codes);
    const std::string word(1 << 20, 'a');
    const Tokens tokens = in_portions(tokenizer, word, 4099);
    EXPECT_EQ(tokenizer.decode(tokens), word);
    EXPECT_EQ(std::ranges::count(tokens, tokens[0]), (1 << 10) - 1);
    EXPECT_EQ(tokenizer.bytes(tokens[0]).size(), 1024u);
}

TEST(HostSubwordNmt, BadCodesAreRefused) {
    const std::pair<const char*, std::string> cases[] = {
        {"bpe.codes: has no merges, wanted a line with two symbols", ""},
        {"bpe.codes: has no merges", "#version: 0.2\n"},
        {"line 1: found \"#version: 0.3\", wanted version 0.1 or 0.2", "#version: 0.3\na b\n"},
        {"line 2: found \"ab\", wanted two symbols", "#version: 0.2\nab\n"},
        {"line 1: found \"a b c\", wanted two symbols", "a b c\n"},
        {"line 1: found \" a b\", wanted two symbols", " a b\n"},
        {"line 1: found \"a b \", wanted two symbols", "a b \n"},
        {"line 2: found \"\", wanted two symbols", "a b\n\nb c\n"},
        {"line 3 merges \"a\" and \"b\" a second time", "#version: 0.2\na b\na b\n"},
        {"line 2: is not UTF-8", "a b\na \xff\n"},
        {"line 1 merges \"ab\" and \"c\", but \"ab\" is no character and no result of an earlier line", "ab c\na b\n"},
        {"but \"ab</w>\" is no character and no result", "#version: 0.2\na b\nc ab</w>\n"},
        {"but no symbol follows \"a</w>\", which ends words", "#version: 0.2\na</w> b\n"},
        {"but \"</w>\" is no character", "#version: 0.2\na </w>\n"},
        {"but no symbol follows \"</w>\"", "</w> a\n"},
        {"but \"a</w>\" is no character and no result", "b a</w>\n"},  // version 0.1 merges a and </w> first
    };
    const Scratch scratch;
    for (const auto& [reason, codes] : cases) {
        const std::string message = complaint([&] { read(scratch, codes); });
        expect_holds(message, reason);
        expect_holds(message, scratch.path().string());
    }
    EXPECT_EQ(shown(read(scratch, "a </w>\r\nb a</w>\r\n"), read(scratch, "a </w>\nb a</w>").encode("ba")),
              (std::vector<std::string>{"ba"}));
}

}  // namespace
}  // namespace vkf
