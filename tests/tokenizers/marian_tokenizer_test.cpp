// Tokenizers of Marian directories, compared with SentencePiece's library in tests/golden/marian-files.

#include "models/tokenizers/marian/marian_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden.h"
#include "models/tokenizers/encoder.h"
#include "models/tokenizers/load_tokenizer.h"
#include "tests/scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path files = golden / "marian-files";

Tokens with_end(const Tokenizer& tokenizer, const std::string& text) {
    Tokens tokens = tokenizer.encode(text);
    tokens.push_back(tokenizer.end_of_text().value());
    return tokens;
}

/// A copy of the golden directory's tokenizers, to be spoilt.
struct Copy {
    Scratch scratch;

    Copy() {
        for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"})
            fs::copy_file(files / name, scratch.path() / name);
    }
    json vocabulary() const { return read_json(scratch.path() / "vocab.json"); }
    std::string refusal() const {
        return complaint([&] { find_marian_tokenizers(scratch.path()); });
    }
};

TEST(HostMarianTokenizer, TextsHaveTheLibrarysPiecesWithNumbersOfTheVocabulary) {
    const MarianTokenizers both = find_marian_tokenizers(files).value();
    const json wanted = read_json(files / "translations.json");
    for (const json& row : wanted.at("sentences"))
        EXPECT_EQ(with_end(*both.source, row.at("sentence")), row.at("source").get<Tokens>()) << row.at("sentence");
    for (const json& row : wanted.at("targets"))
        EXPECT_EQ(with_end(*both.target, row.at("text")), row.at("tokens").get<Tokens>()) << row.at("text");
    EXPECT_EQ(both.files.size(), 5u);
}

TEST(HostMarianTokenizer, TokensStandForTheTextOfTheirPieces) {
    const MarianTokenizers both = find_marian_tokenizers(files).value();
    const Tokenizer& target = *both.target;
    EXPECT_EQ(target.decode(target.encode("lupe  zo.")), "lupe zo.");
    const json vocabulary = read_json(files / "vocab.json");
    EXPECT_EQ(target.size(), vocabulary.size());
    EXPECT_EQ(target.bytes(vocabulary.at("\u2581fim")), " fim");  // a piece of the sources' model
    EXPECT_EQ(target.bytes(vocabulary.at("<pad>")), "<pad>");
    EXPECT_EQ(target.added_token("<pad>"), vocabulary.at("<pad>").get<std::int32_t>());
    EXPECT_EQ(target.added_token("<unk>"), 1);
    EXPECT_EQ(target.begin_of_text(), std::nullopt);
}

TEST(HostMarianTokenizer, ALanguageIsNamedAtTheBeginningOnly) {
    const MarianTokenizers both = find_marian_tokenizers(files).value();
    const Tokenizer& source = *both.source;
    const Tokens text = source.encode("mi oto");
    const auto with = [&](std::int32_t first) {
        Tokens tokens = text;
        tokens.insert(tokens.begin(), first);
        return tokens;
    };
    EXPECT_EQ(source.encode(">>lum<< mi oto"), with(2));
    EXPECT_EQ(source.encode(">>lum<<mi oto"), with(2));
    EXPECT_EQ(source.encode(">>other<< mi oto"), with(1));
    EXPECT_EQ(source.encode(">>a<<<< mi")[0], 1);
    EXPECT_NE(source.encode(" >>lum<< mi oto")[0], 2);
    EXPECT_GT(source.encode(">>lum mi oto").size(), 4u);
    Tokens tokens;
    Encoder encoder(source);
    for (const char c : std::string(">>lum<< mi oto")) encoder.feed(std::string(1, c), tokens);
    encoder.finish(tokens);
    EXPECT_EQ(tokens, with(2));
    encoder.feed("mi oto", tokens);
    encoder.finish(tokens);
    EXPECT_EQ(tokens.size(), with(2).size() + text.size());
}

TEST(HostMarianTokenizer, TargetsMayHaveAVocabularyOfTheirOwn) {
    const Copy copy;
    json vocabulary = copy.vocabulary();
    const std::int32_t first = vocabulary.at("\u2581xe"), second = vocabulary.at("\u2581zo");
    std::swap(vocabulary["\u2581xe"], vocabulary["\u2581zo"]);
    copy.scratch.file("target_vocab.json", vocabulary.dump());
    copy.scratch.file("tokenizer_config.json", R"({"separate_vocabs": true})");
    const MarianTokenizers both = find_marian_tokenizers(copy.scratch.path()).value();
    EXPECT_EQ(both.target->encode("zo xe"), (Tokens{first, second}));
    EXPECT_EQ(both.target->decode(Tokens{first, second}), "zo xe");
    EXPECT_EQ(both.files.size(), 5u);
    fs::remove(copy.scratch.path() / "target_vocab.json");
    expect_holds(copy.refusal(), "target_vocab.json is missing, wanted target.spm and target_vocab.json");
}

TEST(HostMarianTokenizer, SettingsMayDescribeTokensAtLength) {
    const Copy copy;
    copy.scratch.file("tokenizer_config.json", R"({"unk_token": {"content": "<unk>", "lstrip": false},
        "eos_token": "</s>", "source_lang": "fi", "additional_special_tokens": [">>lum<<"], "added_tokens_decoder": {
        "0": {"content": "</s>", "special": true}, "1": {"content": "<unk>", "special": true}}})");
    const MarianTokenizers both = find_marian_tokenizers(copy.scratch.path()).value();
    EXPECT_EQ(both.source->added_tokens().size(), 4u);
    EXPECT_EQ(both.source->encode(">>lum<< mi</s>"), (find_marian_tokenizers(files)->source->encode(">>lum<< mi</s>")));
    copy.scratch.file("tokenizer_config.json", R"({"eos_token": "<eos>"})");
    expect_holds(copy.refusal(), "has no \"<eos>\"");
    copy.scratch.file("tokenizer_config.json", R"({"added_tokens_decoder": {"3": {"content": "</s>"}}})");
    expect_holds(copy.refusal(), "wanted 0 as in ");
}

TEST(HostMarianTokenizer, DirectoriesThatContradictThemselvesAreRefused) {
    EXPECT_FALSE(find_marian_tokenizers(Scratch().path()).has_value());
    for (const char* name : {"source.spm", "target.spm", "vocab.json"}) {
        const Copy copy;
        fs::remove(copy.scratch.path() / name);
        expect_holds(copy.refusal(), std::string(name) + " is missing, wanted ");
    }
    const auto refusal_with = [](const json& vocabulary) {
        const Copy copy;
        copy.scratch.file("vocab.json", vocabulary.dump());
        return copy.refusal();
    };
    const json vocabulary = Copy().vocabulary();
    json changed = vocabulary;
    changed["\u2581mi"] = vocabulary.at("\u2581tan");
    expect_holds(refusal_with(changed), "are both ");
    changed = vocabulary;
    changed["more"] = vocabulary.size() + 3;
    expect_holds(refusal_with(changed), "no token is ");
    changed = vocabulary;
    changed.erase("<pad>");
    expect_holds(refusal_with(changed), "vocab.json: has no \"<pad>\"");
    expect_holds(refusal_with({{"</s>", 0}, {"<unk>", 1}, {"<pad>", 2}, {"\u2581mi", 3}}), "source.spm: 1 of its ");
    expect_holds(refusal_with(json::array()), "wanted an object of tokens and their numbers");
    const Copy copy;
    copy.scratch.file("target.spm", "no model");
    expect_holds(copy.refusal(), "target.spm is no SentencePiece model (8 bytes)");
}

TEST(HostMarianTokenizer, FilesAreKnownAsThoseOfTokenizers) {
    const std::vector<std::string> names = tokenizer_files();
    for (const char* name : {"source.spm", "target.spm", "vocab.json", "target_vocab.json"})
        EXPECT_EQ(std::ranges::count(names, name), 1) << name;
}

}  // namespace
}  // namespace vkf::test
