#include "models/tokenizers/tokenizer_json/tokenizer_json.h"

#include <algorithm>
#include <unordered_map>

#include "base/files/file.h"
#include "models/tokenizers/load_tokenizer.h"
#include "models/tokenizers/sentencepiece/sentencepiece.h"
#include "tests/golden.h"
#include "tests/tokenizers/random_text.h"
#include "tests/tokenizers/vocabularies.h"

namespace vkf {
namespace {

using nlohmann::json;
using test::complaint;
using test::expect_holds;
using test::Scratch;

// Like SmolLM's file: digits one by one, then GPT-2's words; special tokens come first.
json byte_level() {
    return json::parse(R"({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [{"id": 0, "content": "<|endoftext|>", "single_word": false, "lstrip": false, "rstrip": false,
                          "normalized": false, "special": true},
                         {"id": 7, "content": "<tool>", "single_word": false, "lstrip": false, "rstrip": false,
                          "normalized": true, "special": false}],
        "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": true},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}]},
        "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                  "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
                  "vocab": {"<|endoftext|>": 0, "1": 1, "a": 2, "\u0120": 3, "11": 4, "\u0120a": 5, "\u0120\u0120": 6},
                  "merges": ["1 1", ["\u0120", "a"], "\u0120 \u0120"]}})");
}

// Like Llama 2's file.
json characters() {
    json tree = json::parse(R"({
        "added_tokens": [{"id": 0, "content": "<unk>", "normalized": false, "special": true},
                         {"id": 1, "content": "<s>", "normalized": false, "special": true},
                         {"id": 2, "content": "</s>", "normalized": false, "special": true}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
        "pre_tokenizer": null,
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [], "special_tokens": {}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
            {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
                  "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2}, "merges": ["\u2581 a", "\u2581 \u2581"]}})");
    json& vocabulary = tree["model"]["vocab"];
    for (int byte = 0; byte < 256; ++byte) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
        vocabulary[name] = 3 + byte;
    }
    for (const char* piece : {"\u2581", "a", "\u2581a", "\u2581\u2581"}) vocabulary[piece] = vocabulary.size();
    return tree;
}

BpeModel read(const json& tree) {
    const Scratch scratch;
    return read_tokenizer_json(scratch.file("tokenizer.json", tree.dump()));
}

TEST(HostTokenizerJson, ByteLevelModelsAreRead) {
    const BpeTokenizer tokenizer(read(byte_level()));
    EXPECT_EQ(tokenizer.size(), 8u);
    EXPECT_EQ(tokenizer.encode("a a 11  1"), (Tokens{2, 5, 3, 1, 1, 6, 1}));
    EXPECT_EQ(tokenizer.encode("a<tool>a"), (Tokens{2, 7, 2}));
    EXPECT_EQ(tokenizer.encode("<|endoftext|>a", SpecialNames::tokens), (Tokens{0, 2}));
    EXPECT_EQ(tokenizer.begin_of_text(), std::nullopt);
    json tree = byte_level();
    tree["pre_tokenizer"]["pretokenizers"][0]["individual_digits"] = false;
    EXPECT_EQ(BpeTokenizer(read(tree)).encode("11 1"), (Tokens{4, 3, 1}));
    tree["pre_tokenizer"] = tree["pre_tokenizer"]["pretokenizers"][1];
    EXPECT_EQ(BpeTokenizer(read(tree)).encode("a11"), (Tokens{2, 4}));
    tree["pre_tokenizer"]["use_regex"] = false;
    EXPECT_EQ(BpeTokenizer(read(tree)).encode("1  a"), (Tokens{1, 3, 5}));  // the whole text is one word
}

TEST(HostTokenizerJson, CharacterModelsAreRead) {
    const BpeTokenizer tokenizer(read(characters()));
    EXPECT_EQ(tokenizer.encode("a a"), (Tokens{261, 261}));
    EXPECT_EQ(tokenizer.encode("a\n"), (Tokens{261, 3 + '\n'}));
    EXPECT_EQ(tokenizer.encode(" a\u00e9"), (Tokens{259, 261, 3 + 0xc3, 3 + 0xa9}));
    EXPECT_EQ(tokenizer.encode("a<s>a", SpecialNames::tokens), (Tokens{261, 1, 261}));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(" a\u00e9\n a")), " a\u00e9\n a");
    EXPECT_EQ(tokenizer.begin_of_text(), 1);
    EXPECT_EQ(tokenizer.bytes(3 + '\n'), "\n");
}

TEST(HostTokenizerJson, WhatEndsTextsStandsInTheConfiguration) {
    const Scratch scratch;
    scratch.file("tokenizer.json", byte_level().dump());
    EXPECT_EQ(load_tokenizer(scratch.path())->end_of_text(), 0);
    scratch.file("tokenizer_config.json", R"({"eos_token": "<tool>", "model_max_length": 1024})");
    EXPECT_EQ(load_tokenizer(scratch.path())->end_of_text(), 7);
    scratch.file("tokenizer_config.json", R"({"eos_token": {"content": "<|endoftext|>", "lstrip": false}})");
    EXPECT_EQ(load_tokenizer(scratch.path())->end_of_text(), 0);
    scratch.file("tokenizer_config.json", R"({"eos_token": "</s>"})");
    expect_holds(complaint([&] { load_tokenizer(scratch.path()); }),
                 "tokenizer_config.json: eos_token is \"</s>\", wanted one of the added tokens");
}

TEST(HostTokenizerJson, WhatChangesNoTokenIsAccepted) {
    for (const char* patch :
         {R"({"op": "add", "path": "/truncation", "value": {"max_length": 512}})",
          R"({"op": "add", "path": "/padding", "value": {"strategy": "BatchLongest"}})",
          R"({"op": "add", "path": "/normalizer", "value": {"type": "Sequence", "normalizers": []}})",
          R"({"op": "replace", "path": "/decoder", "value": null})",
          R"({"op": "replace", "path": "/decoder",
                                  "value": {"type": "Sequence", "decoders": [{"type": "ByteLevel"}]}})"}) {
        json tree = byte_level();
        tree["added_tokens"][1]["normalized"] = true;
        const BpeTokenizer tokenizer(read(tree.patch(json::array({json::parse(patch)}))));
        EXPECT_EQ(tokenizer.encode("a a<tool>"), (Tokens{2, 5, 7})) << patch;
    }
}

TEST(HostTokenizerJson, WhatStandsAroundTextsIsTheTemplatesUnlessTheConfigurationSays) {
    const Scratch scratch;
    json tree = characters();
    const auto bounds = [&](const char* config) {
        scratch.file("tokenizer.json", tree.dump());
        scratch.file("tokenizer_config.json", config);
        const SavedTokenizer saved = load_tokenizer(scratch.path());
        return std::pair(saved->begin_of_text(), saved->closing_token());
    };
    using Token = std::optional<std::int32_t>;
    EXPECT_EQ(bounds("{}"), std::pair(Token(1), Token()));
    EXPECT_EQ(bounds(R"({"add_bos_token": false})"), std::pair(Token(), Token()));
    EXPECT_EQ(bounds(R"({"add_eos_token": true, "eos_token": "</s>"})"), std::pair(Token(1), Token(2)));
    tree["post_processor"]["single"].push_back(json::parse(R"({"SpecialToken": {"id": "</s>", "type_id": 0}})"));
    EXPECT_EQ(bounds("{}"), std::pair(Token(1), Token(2)));
    EXPECT_EQ(bounds(R"({"add_eos_token": false})"), std::pair(Token(1), Token()));
    tree["post_processor"] = nullptr;
    EXPECT_EQ(bounds("{}"), std::pair(Token(), Token()));
    EXPECT_EQ(bounds(R"({"add_bos_token": true, "bos_token": {"content": "<s>", "normalized": false}})"),
              std::pair(Token(1), Token()));
    expect_holds(complaint([&] { bounds(R"({"add_bos_token": true})"); }), "add_bos_token is true, but no file names");
    expect_holds(complaint([&] { bounds(R"({"add_bos_token": true, "bos_token": "<b>"})"); }),
                 "tokenizer_config.json: bos_token is \"<b>\", wanted one of the added tokens");
    expect_holds(complaint([&] { bounds(R"({"do_lower_case": true})"); }),
                 "tokenizer_config.json: 'do_lower_case' is true, which is not supported, wanted false");
    expect_holds(complaint([&] { bounds(R"({"add_prefix_space": false})"); }), "add_prefix_space");
}

TEST(HostTokenizerJson, WhatIsNotSupportedIsNamed) {
    struct Case {
        const char *reason, *patch;  // RFC 6902
    };
    const Case cases[] = {
        {"\"extra\" (1) is not supported", R"({"op": "add", "path": "/extra", "value": 1})"},
        {"normalizer.type is \"NFC\", wanted Prepend",
         R"({"op": "add", "path": "/normalizer", "value": {"type": "NFC"}})"},
        {"pre_tokenizer.pretokenizers[0].type is \"Whitespace\", wanted ByteLevel",
         R"({"op": "add", "path": "/pre_tokenizer/pretokenizers/0", "value": {"type": "Whitespace"}})"},
        {"add_prefix_space is true, wanted false",
         R"({"op": "add", "path": "/pre_tokenizer/pretokenizers/1/add_prefix_space", "value": true})"},
        {"Digits comes after ByteLevel, wanted ByteLevel last",
         R"({"op": "add", "path": "/pre_tokenizer/pretokenizers/2", "value": {"type": "Digits"}})"},
        {"behavior is \"MergedWithNext\", wanted Isolated",
         R"({"op": "add", "path": "/pre_tokenizer/pretokenizers/0",
             "value": {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "MergedWithNext", "invert": false}})"},
        {"pretokenizers[0].pattern.Regex: '(': missing closing parenthesis",
         R"({"op": "add", "path": "/pre_tokenizer/pretokenizers/0",
             "value": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": false}})"},
        {"found neither", R"({"op": "replace", "path": "/pre_tokenizer", "value": null})"},
        {"post_processor.type is \"BertProcessing\"",
         R"({"op": "add", "path": "/post_processor", "value": {"type": "BertProcessing"}})"},
        {"decoder.type is \"WordPiece\", wanted ByteLevel",
         R"({"op": "replace", "path": "/decoder/type", "value": "WordPiece"})"},
        {"model.type is \"Unigram\", wanted \"BPE\"",
         R"({"op": "replace", "path": "/model/type", "value": "Unigram"})"},
        {"model.dropout is 0.1, wanted null", R"({"op": "replace", "path": "/model/dropout", "value": 0.1})"},
        {"model.end_of_word_suffix is \"</w>\"",
         R"({"op": "replace", "path": "/model/end_of_word_suffix", "value": "</w>"})"},
        {"added_tokens[0].lstrip is true, wanted false",
         R"({"op": "replace", "path": "/added_tokens/0/lstrip", "value": true})"},
        {"added_tokens[0].id is 3, wanted 0 as in", R"({"op": "replace", "path": "/added_tokens/0/id", "value": 3})"},
        {"no token is 7, but \"<tool>\" is 9", R"({"op": "replace", "path": "/added_tokens/1/id", "value": 9})"},
        {"added_tokens[1].content: \"<|endoftext|>\" is added a second time",
         R"({"op": "replace", "path": "/added_tokens/1", "value": {"id": 0, "content": "<|endoftext|>"}})"},
        {"model.merges[0] is \"1\", wanted two tokens",
         R"({"op": "replace", "path": "/model/merges/0", "value": "1"})"},
        {"model.merges[1] is [\"1\"], wanted two tokens",
         R"({"op": "replace", "path": "/model/merges/1", "value": ["1"]})"},
        {"model.merges[0] merges \"1\" and \"b\", but \"b\" is not",
         R"({"op": "replace", "path": "/model/merges/0", "value": "1 b"})"},
        {"model.merges[3] merges \"1\" and \"1\" a second time",
         R"({"op": "add", "path": "/model/merges/3", "value": "1 1"})"},
        {"model.merges is null, wanted a list", R"({"op": "remove", "path": "/model/merges"})"},
        {"model.vocab: found null, wanted an object", R"({"op": "remove", "path": "/model/vocab"})"},
        {"model is null, wanted an object", R"({"op": "remove", "path": "/model"})"},
    };
    const auto expect_refusal = [](const json& tree, const Case& bad) {
        const auto message = complaint([&] { read(tree.patch(json::array({json::parse(bad.patch)}))); });
        expect_holds(message, bad.reason);
        expect_holds(message, "tokenizer.json: ");
    };
    for (const Case& bad : cases) expect_refusal(byte_level(), bad);
    const Case of_characters[] = {
        {"normalizers[0].prepend is \"_\"",
         R"({"op": "replace", "path": "/normalizer/normalizers/0/prepend", "value": "_"})"},
        {"normalizer has no Replace", R"({"op": "remove", "path": "/normalizer/normalizers/1"})"},
        {"pattern is {\"Regex\":\" \"}", R"({"op": "replace", "path": "/normalizer/normalizers/1/pattern",
                                             "value": {"Regex": " "}})"},
        {"has no token <0x0A> for \"byte_fallback\"", R"({"op": "move", "from": "/model/vocab/<0x0A>",
                                                          "path": "/model/vocab/x"})"},
        {"model.unk_token is \"?\", wanted a token", R"({"op": "replace", "path": "/model/unk_token", "value": "?"})"},
        {"decoder.decoders is", R"({"op": "remove", "path": "/decoder/decoders/3"})"},
        {"added_tokens[1].normalized is true",
         R"({"op": "replace", "path": "/added_tokens/1/normalized", "value": true})"},
        {"post_processor.single is [", R"({"op": "remove", "path": "/post_processor/single/1"})"},
    };
    for (const Case& bad : of_characters) expect_refusal(characters(), bad);
}

// Model that Hugging Face's converter makes from a SentencePiece model's pieces: every merge of two pieces into a
// third, in the order of the pieces. Runs of spaces, which all have the same score, come last, longer parts first.
json converted(const Tokenizer& pieces) {
    json tree = characters();
    json& vocabulary = tree["model"]["vocab"];
    for (const char* own : {"\u2581", "a", "\u2581a", "\u2581\u2581"}) vocabulary.erase(own);
    std::unordered_map<std::string, std::int32_t> number;
    const auto marked = [](std::string piece) {
        for (std::size_t at; (at = piece.find(' ')) != piece.npos;) piece.replace(at, 1, "\u2581");
        return piece;
    };
    const auto size = static_cast<std::int32_t>(pieces.size());
    for (std::int32_t token = 259; token < size; ++token) {
        number[pieces.bytes(token)] = token;
        vocabulary[marked(pieces.bytes(token))] = token;
    }
    json merges = json::array();
    std::vector<std::pair<std::string, std::string>> of_spaces;
    for (std::int32_t token = 259; token < size; ++token) {
        const std::string piece = pieces.bytes(token);
        const bool spaces = piece.find_first_not_of(' ') == piece.npos;
        std::vector<std::pair<std::int32_t, std::int32_t>> ways;
        for (std::size_t at = 1; at < piece.size(); ++at) {
            const auto left = number.find(piece.substr(0, at)), right = number.find(piece.substr(at));
            if (left == number.end() || right == number.end()) continue;
            if (spaces) of_spaces.emplace_back(left->first, right->first);
            if (!spaces) ways.emplace_back(left->second, right->second);
        }
        std::ranges::sort(ways);
        for (const auto& [left, right] : ways)
            merges.push_back({marked(pieces.bytes(left)), marked(pieces.bytes(right))});
    }
    std::ranges::sort(of_spaces, std::ranges::greater());
    for (const auto& [left, right] : of_spaces) merges.push_back({marked(left), marked(right)});
    tree["model"]["merges"] = std::move(merges);
    return tree;
}

TEST(HostTokenizerJson, GivesTheTokensOfTheSentencePieceModelThatItWas) {
    VKF_NEEDS(test::LLAMA2);
    const Scratch scratch;
    const auto pieces = SentencePiece::load(test::data_file(scratch, test::LLAMA2));
    const BpeTokenizer tokenizer(read_tokenizer_json(scratch.file("tokenizer.json", converted(*pieces).dump())));
    EXPECT_EQ(tokenizer.size(), pieces->size());
    const json golden = test::read_json(test::golden / "tokens.json");
    for (std::size_t i = 0; i < golden["strings"].size(); ++i) {
        EXPECT_EQ(json(tokenizer.encode(golden["strings"][i].get<std::string>())), golden["llama2"]["strings"][i]);
    }
    test::RandomText random;
    for (int i = 0; i < 2000; ++i) {
        const std::string text = random.next();
        ASSERT_EQ(tokenizer.encode(text), pieces->encode(text)) << text;
    }
}

}  // namespace
}  // namespace vkf
