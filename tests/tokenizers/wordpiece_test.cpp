// WordPiece, compared with tests/golden/make_wordpiece_tokens.py.
#include "models/tokenizers/wordpiece/wordpiece.h"

#include <algorithm>

#include "models/tokenizers/encoder.h"
#include "models/tokenizers/load_tokenizer.h"
#include "models/tokenizers/text_decoder.h"
#include "models/tokenizers/tokenizer_json/tokenizer_json.h"
#include "models/tokenizers/wordpiece/vocab_txt.h"
#include "tests/golden.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using nlohmann::json;
using test::complaint;
using test::expect_holds;
using test::Scratch;

const std::string PIECES = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nplay\n##ed\n##s\n!\n";

json bert_json(const std::vector<std::string>& vocabulary) {
    json tree = json::parse(R"({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [{"id": 1, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false,
                          "normalized": false, "special": true}],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                       "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {}}})");
    for (std::size_t i = 0; i < vocabulary.size(); ++i) tree["model"]["vocab"][vocabulary[i]] = i;
    return tree;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        lines.push_back(text.substr(at, text.find('\n', at) - at));
    return lines;
}

TEST(HostWordPiece, PiecesAreThoseOfAnIndependentProgram) {
    const Scratch scratch;
    const json golden = test::read_json(test::golden / "wordpiece_tokens.json");
    const std::vector<std::string> vocabulary = golden["vocabulary"];
    for (const auto& [name, wanted] : golden["cases"].items()) {
        json tree = bert_json(vocabulary);
        tree["normalizer"].update(wanted["normalizer"]);
        const auto tokenizer = load_tokenizer_json(scratch.file("tokenizer.json", tree.dump()));
        ASSERT_GT(wanted["texts"].size(), 80u);
        for (const json& pair : wanted["texts"]) {
            const std::string text = pair[0];
            const Tokens tokens = tokenizer->encode(text);
            json pieces = json::array();
            for (const std::int32_t token : tokens) pieces.push_back(vocabulary[static_cast<std::size_t>(token)]);
            EXPECT_EQ(pieces, pair[1]) << name << ": " << pair[0];
            for (const std::size_t portion : {1, 5}) {
                Tokens parts;
                Encoder encoder(*tokenizer);
                for (std::size_t at = 0; at < text.size(); at += portion)
                    encoder.feed(std::string_view(text).substr(at, portion), parts);
                encoder.finish(parts);
                EXPECT_EQ(parts, tokens) << name << ": " << pair[0];
            }
        }
    }
}

TEST(HostWordPiece, AVocabTxtIsATokenizer) {
    const Scratch scratch;
    scratch.file("vocab.txt", PIECES);
    SavedTokenizer saved = load_tokenizer(scratch.path());
    EXPECT_EQ(saved->size(), 9u);
    EXPECT_EQ(saved->encode("The  pl\u00e0yed plays! play!x [CLS]"), (Tokens{4, 5, 6, 5, 7, 8, 5, 8, 1, 1, 1, 1}));
    EXPECT_EQ(saved->encode("[CLS]The[SEP]", SpecialNames::tokens), (Tokens{2, 4, 3}));
    EXPECT_EQ(saved->begin_of_text(), 2);
    EXPECT_EQ(saved->end_of_text(), 3);
    EXPECT_EQ(saved->closing_token(), 3);
    EXPECT_EQ(saved->decode(Tokens{4, 5, 6, 8}), "the played !");
    TextDecoder decoder(*saved.tokenizer);
    std::string text;
    for (const std::int32_t token : {2, 4, 5, 7}) text += decoder.feed(token);
    EXPECT_EQ(text + decoder.finish(), "the plays");
    scratch.file("tokenizer_config.json", R"({"do_lower_case": false, "tokenize_chinese_chars": true})");
    EXPECT_EQ(load_tokenizer(scratch.path())->encode("The the"), (Tokens{1, 4}));
    const std::string same = bert_json(lines_of(PIECES)).dump();
    EXPECT_EQ(load_tokenizer_json(scratch.file("tokenizer.json", same))->difference(*saved), "");
    expect_holds(complaint([&] { load_tokenizer(scratch.path()); }),
                 "lowercase is true, wanted false as in tokenizer_config.json");
}

TEST(HostWordPiece, WordsOfAnyLengthTakeLittleTime) {
    const Scratch scratch;
    const WordPiece tokenizer(read_vocab_txt(scratch.file("vocab.txt", "[UNK]\na\n##a\n")));
    EXPECT_EQ(tokenizer.encode(std::string(1 << 20, 'a')), Tokens{0});
    EXPECT_EQ(tokenizer.encode(std::string(100, 'a')).size(), 100u);
}

TEST(HostWordPiece, BadFilesAreRefused) {
    const Scratch scratch;
    const std::pair<const char*, std::string> lines[] = {
        {"vocab.txt: line 2 is empty, wanted a piece", "a\n\nb\n"},
        {"vocab.txt: line 3 is \"a\", as is line 1", "a\nb\na\n"},
        {"vocab.txt: line 2 is not UTF-8", "a\n\xff\n"},
        {"vocab.txt: has no token \"[UNK]\", wanted it for unknown words", "a\n"},
    };
    for (const auto& [reason, content] : lines)
        expect_holds(complaint([&] { read_vocab_txt(scratch.file("vocab.txt", content)); }), reason);
    const std::pair<const char*, const char*> patches[] = {
        {"model.max_input_chars_per_word is 0, wanted 1 to 1000", R"({"model": {"max_input_chars_per_word": 0}})"},
        {"normalizer.type is \"NFC\", wanted \"BertNormalizer\"", R"({"normalizer": {"type": "NFC"}})"},
        {"pre_tokenizer.type is \"Whitespace\"", R"({"pre_tokenizer": {"type": "Whitespace"}})"},
        {"decoder.prefix is \"@@\", wanted \"##\"", R"({"decoder": {"prefix": "@@"}})"},
        {"has no token \"<unk>\"", R"({"model": {"unk_token": "<unk>"}})"},
        {"\"merges\" ([]) is not supported", R"({"model": {"merges": []}})"},
    };
    for (const auto& [reason, patch] : patches) {
        json tree = bert_json(lines_of(PIECES));
        tree.merge_patch(json::parse(patch));
        expect_holds(complaint([&] { load_tokenizer_json(scratch.file("tokenizer.json", tree.dump())); }), reason);
    }
    const Scratch other;
    other.file("vocab.json", R"({"a": 0})");
    other.file("merges.txt", "");
    other.file("tokenizer_config.json", R"({"do_lower_case": true})");
    expect_holds(complaint([&] { load_tokenizer(other.path()); }),
                 "'do_lower_case' is true, which is not supported, wanted false");
}

}  // namespace
}  // namespace vkf
