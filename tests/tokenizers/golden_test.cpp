// Compares tokens, one by one, with those of independent tokenizers (tests/golden/make_tokens.mjs).
#include <cstdio>
#include <functional>

#include "base/random.h"
#include "models/tokenizers/encoder.h"
#include "models/tokenizers/sentencepiece/sentencepiece.h"
#include "tests/golden.h"
#include "tests/tokenizers/random_text.h"
#include "tests/tokenizers/vocabularies.h"

namespace vkf {
namespace {

using test::Scratch;

struct Summary {
    std::string bytes;  // the tokens as little-endian int32
    void add(std::span<const std::int32_t> tokens) {
        bytes.append(reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes());
    }
    nlohmann::json json() const {
        char hash[20];
        std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_name(bytes)));
        return {{"tokens", bytes.size() / 4}, {"hash", hash}};
    }
};

// Encodes the text in portions of 10007 bytes, a prime.
Tokens in_portions(const Tokenizer& tokenizer, std::string_view text) {
    Tokens tokens;
    Encoder encoder(tokenizer);
    for (std::size_t at = 0; at < text.size(); at += 10007) encoder.feed(text.substr(at, 10007), tokens);
    encoder.finish(tokens);
    return tokens;
}

using Decoded = std::function<std::string(std::string)>;  // a text after encoding and decoding

void expect_tokens(const Tokenizer& tokenizer, const char* name, const Scratch& scratch,
                   const Decoded& decoded = std::identity()) {
    const nlohmann::json golden = test::read_json(test::golden / "tokens.json");
    const nlohmann::json& expected = golden[name];
    for (std::size_t i = 0; i < golden["strings"].size(); ++i) {
        const std::string string = golden["strings"][i];
        const Tokens tokens = tokenizer.encode(string);
        EXPECT_EQ(nlohmann::json(tokens), expected["strings"][i]) << golden["strings"][i];
        EXPECT_EQ(tokenizer.decode(tokens), decoded(string)) << golden["strings"][i];
    }
    test::RandomText random;
    for (const nlohmann::json& thousand : expected["random"]) {
        Summary summary;
        for (int i = 0; i < 1000; ++i) {
            const std::string string = random.next();
            const Tokens tokens = tokenizer.encode(string);
            summary.add(tokens);
            summary.add(std::array{static_cast<std::int32_t>(-1 - std::ssize(tokens))});
            ASSERT_EQ(tokenizer.decode(tokens), string);
        }
        EXPECT_EQ(summary.json(), thousand);
    }
    for (const auto& [path, kept] : expected["texts"].items()) {
        if (!find_data(path)) continue;
        std::string text = read_text(test::data_file(scratch, path));
        if (text.starts_with("\ufeff")) text.erase(0, 3);
        Summary summary;
        summary.add(in_portions(tokenizer, text));
        EXPECT_EQ(summary.json(), kept) << path;
    }
}

TEST(HostTokenizerGolden, Gpt2) {
    VKF_NEEDS(test::GPT2);
    const Scratch scratch;
    expect_tokens(BpeTokenizer(test::gpt2_model(scratch)), "gpt2", scratch);
}

TEST(HostTokenizerGolden, Llama3FromItsTokenizerJson) {
    VKF_NEEDS(test::LLAMA3);
    const Scratch scratch;
    const auto file = scratch.file("tokenizer.json", tokenizer_json(test::llama3_model(scratch)));
    expect_tokens(BpeTokenizer(read_tokenizer_json(file)), "llama3", scratch);
}

TEST(HostTokenizerGolden, Llama2BySentencePiece) {
    VKF_NEEDS(test::LLAMA2);
    const Scratch scratch;
    const auto spaces = [](std::string text) {  // SentencePiece's sign for a space becomes one
        for (std::size_t at; (at = text.find("\u2581")) != text.npos;) text.replace(at, 3, " ");
        return text;
    };
    expect_tokens(*SentencePiece::load(test::data_file(scratch, test::LLAMA2)), "llama2", scratch, spaces);
}

}  // namespace
}  // namespace vkf
