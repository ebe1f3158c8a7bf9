#include "models/tokenizers/sentencepiece/sentencepiece.h"

#include "models/tokenizers/encoder.h"
#include "models/tokenizers/load_tokenizer.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using test::Scratch;

// Encodes fields of protocol buffers, as far as a model needs them: numbers, and bytes with a length.
std::string number(int field, unsigned value) {
    return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string bytes(int field, const std::string& value) {
    return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(value.size())} + value;
}

enum Type : unsigned { NORMAL = 1, UNKNOWN = 2, CONTROL = 3 };

std::string piece(const std::string& name, float score, unsigned type) {
    const std::string little_endian(reinterpret_cast<const char*>(&score), sizeof score);
    return bytes(1, bytes(1, name) + static_cast<char>(2 << 3 | 5) + little_endian + number(3, type));
}

struct Options {
    bool prefix = true, remove_extra_spaces = false;
    std::vector<std::string> more;
};

// A byte-pair model of a few pieces.
std::string model(const Options& options) {
    std::string proto = piece("<unk>", 0, UNKNOWN) + piece("<s>", 0, CONTROL) + piece("</s>", 0, CONTROL);
    float score = 0;
    for (const char* name : {"\u2581a", "ab", "\u2581", "a", "b"}) proto += piece(name, --score, NORMAL);
    for (const std::string& name : options.more) proto += piece(name, 1, NORMAL);
    proto += bytes(2, number(3, 2));  // trainer_spec: model_type BPE
    return proto + bytes(3, bytes(1, "identity") + number(3, options.prefix) + number(4, options.remove_extra_spaces));
}

std::unique_ptr<SentencePiece> load(const std::string& proto) {
    const Scratch scratch;
    return SentencePiece::load(scratch.file("tokenizer.model", proto));
}

TEST(HostSentencePiece, WordsBeginWithASpace) {
    const auto tokenizer = load(model({}));
    EXPECT_EQ(tokenizer->size(), 8u);
    EXPECT_EQ(tokenizer->encode("a"), (Tokens{3}));
    EXPECT_EQ(tokenizer->encode("ab b"), (Tokens{3, 7, 5, 7}));
    EXPECT_EQ(tokenizer->encode(" a "), (Tokens{5, 3, 5}));  // a space at the end is a word
    EXPECT_EQ(tokenizer->encode("b  a"), (Tokens{5, 7, 5, 3}));
    EXPECT_EQ(tokenizer->encode("a</s>b", SpecialNames::tokens), (Tokens{3, 2, 5, 7}));
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(" ab  b ")), " ab  b ");
    EXPECT_EQ(tokenizer->bytes(3), " a");
    EXPECT_EQ(tokenizer->begin_of_text(), 1);
    EXPECT_EQ(tokenizer->end_of_text(), 2);
    EXPECT_TRUE(tokenizer->encode("").empty());
    const auto plain = load(model({.prefix = false}));
    EXPECT_EQ(plain->encode("ab ab b"), (Tokens{4, 3, 7, 5, 7}));
    EXPECT_EQ(plain->decode(plain->encode(" ab")), " ab");
}

TEST(HostSentencePiece, APieceAcrossASpaceIsFound) {
    const auto tokenizer = load(model({.more = {"b\u2581"}}));
    EXPECT_EQ(tokenizer->encode("bb a"), (Tokens{5, 7, 8, 6}));
    Tokens tokens;
    Encoder encoder(*tokenizer);
    for (const char c : std::string("bb a")) encoder.feed(std::string(1, c), tokens);
    encoder.finish(tokens);
    EXPECT_EQ(tokens, (Tokens{5, 7, 8, 6}));
}

TEST(HostSentencePiece, ModelsThatChangeTextsAreRefused) {
    // The library's trie has no keys that begin with a zero byte.
    const std::string unigram = piece("<unk>", 0, UNKNOWN) + piece(std::string("\0=", 2), 0, NORMAL);
    expect_holds(complaint([] { load(model({.remove_extra_spaces = true})); }), "the model turns \" a\" into");
    for (const std::string& broken : {std::string(), std::string("no model"), model({}).substr(0, 20), unigram}) {
        expect_holds(complaint([&] { load(broken); }), "tokenizer.model is no SentencePiece model");
    }
    const Scratch scratch;
    scratch.file("tokenizer.model", model({}));
    EXPECT_EQ(load_tokenizer(scratch.path())->encode("a"), (Tokens{3}));
}

TEST(HostSentencePiece, ACharsmapIsRefusedBeforeTheLibraryFollowsIt) {
    // Eight bytes of a trie whose first offset leads far beyond it, and no texts.
    const std::string charsmap{"\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12};
    for (const int field : {3, 5}) {
        const std::string forged = model({}) + bytes(field, bytes(1, "nmt_nfkc") + bytes(2, charsmap));
        expect_holds(
            complaint([&] { load(forged); }),
            "tokenizer.model: the model rewrites texts by the rules \"nmt_nfkc\" (a precompiled_charsmap of 12");
    }
    EXPECT_EQ(load(model({}) + bytes(5, bytes(2, "")))->size(), 8u);
}

TEST(HostSentencePiece, OtherFilesAddTokens) {
    const Scratch scratch;
    scratch.file("tokenizer.model", model({}));
    scratch.file("added_tokens.json", R"({"<pad>": 8, "<s>": 1})");
    scratch.file("tokenizer_config.json", R"({"add_bos_token": false, "add_eos_token": true, "eos_token": "</s>",
        "unk_token": "<unk>", "tokenizer_class": "LlamaTokenizer"})");
    const SavedTokenizer saved = load_tokenizer(scratch.path());
    EXPECT_EQ(saved->size(), 9u);
    EXPECT_EQ(saved->encode("a<pad>"), (Tokens{3, 8}));
    EXPECT_EQ(saved->begin_of_text(), std::nullopt);
    EXPECT_EQ(saved->closing_token(), 2);
    EXPECT_EQ(saved.files.size(), 3u);
    scratch.file("added_tokens.json", R"({"<pad>": 9})");
    expect_holds(complaint([&] { load_tokenizer(scratch.path()); }), "<pad> is 9, wanted 8, the next number");
    scratch.file("added_tokens.json", R"({"<s>": 3})");
    expect_holds(complaint([&] { load_tokenizer(scratch.path()); }), "<s> is 3, wanted 1 as in the model");
}

TEST(HostSentencePiece, PiecesThatContradictEachOtherAreRefused) {
    const Scratch scratch;
    const std::string proto = piece("=unk>", 0, UNKNOWN) + piece("\u2581", 0, CONTROL) + piece("</s>", 0, CONTROL) +
                              piece("\u2581a", 0, NORMAL) + piece("><", 0, NORMAL) + piece("a", 0, NORMAL) +
                              bytes(2, number(3, 2)) + bytes(3, bytes(1, "identity") + number(3, 1) + number(4, 0));
    expect_holds(complaint([&] { load(proto)->encode("a  b a"); }), "cannot encode text");
}

TEST(HostSentencePiece, FieldsThatEndEarlyAreNoModel) {
    for (const std::string& end : {std::string("\x1a\x05\x12"), std::string("\x1a\x02\x12\x7f"), std::string("\x0b"),
                                   std::string(11, '\xff'), std::string("\x1d\0", 2)}) {
        expect_holds(complaint([&] { load(model({}) + end); }), "tokenizer.model is no SentencePiece model");
    }
}

}  // namespace
}  // namespace vkf
