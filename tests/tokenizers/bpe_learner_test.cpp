#include "models/tokenizers/bpe/bpe_learner.h"

#include <map>
#include <set>

#include "base/files/file.h"
#include "models/tokenizers/bpe/byte_level.h"
#include "models/tokenizers/bpe/gpt2_files.h"
#include "models/tokenizers/tokenizer_json/tokenizer_json.h"
#include "tests/scratch.h"
#include "tests/tokenizers/random_text.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using test::Scratch;

const std::string TEXT = [] {
    std::string text = "low lower lowest, newer and wider: the lowest of the low; aaaa aaa aaaaaaa\n";
    test::RandomText random;
    for (int i = 0; i < 40; ++i) text += random.next() + " the newest low ";
    return text;
}();

BpeModel learnt(const std::string& text, std::size_t size) {
    BpeLearner learner;
    learner.add(text);
    return learner.learn(size);
}

// Learns by definition: counts all pairs of all words again for every token.
std::vector<std::string> tokens_by_definition(const std::string& text, std::size_t size) {
    std::vector<std::vector<std::string>> words;
    PreTokenizer({{Pattern(GPT2_PATTERN, "pattern")}}).cut(text, false, [&](std::string_view word) {
        auto& symbols = words.emplace_back();
        for (const char byte : word) symbols.emplace_back(1, byte);
    });
    std::vector<std::string> tokens;
    std::map<std::string, std::size_t> number;
    for (const unsigned char byte : bytes_in_character_order()) tokens.emplace_back(1, static_cast<char>(byte));
    for (const std::string& token : tokens) number.emplace(token, number.size());
    while (tokens.size() < size) {
        std::map<std::pair<std::size_t, std::size_t>, int> counts;  // by numbers: of the best, the lowest comes first
        for (const auto& word : words) {
            for (std::size_t i = 0; i + 1 < word.size(); ++i) ++counts[{number[word[i]], number[word[i + 1]]}];
        }
        auto best = counts.begin();
        for (auto pair = counts.begin(); pair != counts.end(); ++pair) {
            if (pair->second > best->second) best = pair;
        }
        const std::string left = tokens[best->first.first], right = tokens[best->first.second];
        if (number.emplace(left + right, tokens.size()).second) tokens.push_back(left + right);
        for (auto& word : words) {
            for (std::size_t i = 0; i + 1 < word.size(); ++i) {
                if (word[i] != left || word[i + 1] != right) continue;
                word[i] += right;
                word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            }
        }
    }
    return tokens;
}

TEST(HostBpeLearner, JoinsTheMostFrequentPairs) {
    BpeModel model = learnt(TEXT, 420);
    ASSERT_EQ(model.tokens.size(), 420u);
    EXPECT_EQ(model.tokens.back(), "<|endoftext|>");
    EXPECT_EQ(model.bounds.end, 419);
    model.tokens.pop_back();
    EXPECT_EQ(model.tokens, tokens_by_definition(TEXT, 419));
    const BpeTokenizer tokenizer(learnt(TEXT, 420));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(TEXT)), TEXT);
    EXPECT_EQ(tokenizer.encode(" the").size(), 1u);
}

TEST(HostBpeLearner, TheOrderOfTextsMakesNoDifference) {
    BpeLearner one, other;
    const std::string texts[] = {TEXT, "some other words, ", "and others"};
    for (const std::string& text : texts) one.add(text);
    for (const std::string& text : {texts[2], texts[0], texts[1]}) other.add(text);
    EXPECT_EQ(one.learn(400).tokens, other.learn(400).tokens);
}

TEST(HostBpeLearner, ItsFilesAreReadAsTheyWere) {
    const Scratch scratch;
    const BpeModel model = learnt(TEXT, 400);
    const auto json = scratch.file("tokenizer.json", tokenizer_json(model));
    const auto vocabulary = scratch.file("vocab.json", vocab_json(model));
    const auto merges = scratch.file("merges.txt", merges_txt(model));
    const Tokens wanted = BpeTokenizer(model).encode(TEXT + "<|endoftext|>", SpecialNames::tokens);
    EXPECT_EQ(wanted.back(), 399);
    for (const BpeModel& read : {read_tokenizer_json(json), read_gpt2_files(vocabulary, merges)}) {
        EXPECT_EQ(read.tokens, model.tokens);
        EXPECT_EQ(merges_txt(read), merges_txt(model));
        EXPECT_EQ(vocab_json(read), vocab_json(model));
        EXPECT_EQ(BpeTokenizer(read).encode(TEXT + "<|endoftext|>", SpecialNames::tokens), wanted);
    }
}

TEST(HostBpeLearner, SizesThatCannotBeHadAreRefused) {
    expect_holds(complaint([] { learnt("text", 256); }), "a vocabulary of 256 tokens, wanted 257 or more");
    EXPECT_EQ(learnt("", 257).tokens.size(), 257u);
    EXPECT_EQ(learnt("abab", 258).tokens[256], "ab");
    expect_holds(complaint([] { learnt("abab", 259); }), "259 tokens is wanted, but these texts have pairs for 258");
    expect_holds(complaint([] { learnt("ab\xff", 300); }), "text is not UTF-8 at byte 2");
}

TEST(HostBpeLearner, PortionsMakeNoDifference) {
    std::string text;
    for (int i = 0; i < 9; ++i) text += TEXT + std::string(20'000, 'a') + "\n";
    BpeLearner portions;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
        end = std::min(text.size(), at + 777);
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) ++end;
        portions.feed(std::string_view(text).substr(at, end - at));
    }
    portions.finish();
    EXPECT_EQ(portions.learn(400).tokens, learnt(text, 400).tokens);
}

TEST(HostBpeLearner, SpecialTokensComeLastAndTheFirstEndsTexts) {
    BpeLearner learner;
    learner.add(TEXT);
    std::size_t told = 0;
    const std::vector<std::string> special{"<end>", "<more>"};
    const BpeModel model = learner.learn(300, special, [&](std::size_t tokens) { told = tokens; });
    EXPECT_EQ(told, 298u);
    ASSERT_EQ(model.tokens.size(), 300u);
    EXPECT_EQ(model.tokens[298], "<end>");
    EXPECT_EQ(model.bounds.end, 298);
    const BpeTokenizer tokenizer{BpeModel(model)};
    EXPECT_EQ(tokenizer.encode("<end><more>", SpecialNames::tokens), (Tokens{298, 299}));
    EXPECT_GT(tokenizer.encode("<end><more>").size(), 2u);
    for (const std::string& name : {std::string("a"), std::string("<end>"), std::string()})
        expect_holds(complaint([&] { learner.learn(300, std::vector<std::string>{"<end>", name}); }), "special token");
    expect_holds(complaint([&] { learner.learn(257, special); }), "wanted 258 or more: all bytes and 2 special tokens");
}

}  // namespace
}  // namespace vkf
