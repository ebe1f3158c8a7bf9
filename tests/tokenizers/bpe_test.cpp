#include "models/tokenizers/bpe/bpe.h"

#include <algorithm>
#include <array>

#include "base/random.h"
#include "models/tokenizers/bpe/word_cache.h"
#include "tests/scratch.h"
#include "tests/tokenizers/random_text.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;

// Merges by definition: the pair of lowest rank, the leftmost of these, until there is none.
Tokens merged_by_definition(const std::vector<Merge>& merges, Tokens tokens) {
    for (;;) {
        std::size_t best = merges.size(), at = 0;
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            for (std::size_t rank = 0; rank < best; ++rank) {
                if (merges[rank].left == tokens[i] && merges[rank].right == tokens[i + 1]) best = rank, at = i;
            }
        }
        if (best == merges.size()) return tokens;
        tokens[at] = merges[best].token;
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
}

// Merges in rounds by definition: all occurrences of the pair of lowest rank, from left to right.
Tokens merged_in_rounds(const std::vector<Merge>& merges, Tokens tokens) {
    for (;;) {
        std::size_t best = merges.size();
        const auto is = [&](std::size_t rank, std::size_t i) {
            return i + 1 < tokens.size() && merges[rank].left == tokens[i] && merges[rank].right == tokens[i + 1];
        };
        for (std::size_t i = 0; i < tokens.size(); ++i)
            for (std::size_t rank = 0; rank < best; ++rank)
                if (is(rank, i)) best = rank;
        if (best == merges.size()) return tokens;
        Tokens joined;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool join = is(best, i);
            joined.push_back(join ? merges[best].token : tokens[i]);
            i += join;
        }
        tokens = joined;
    }
}

TEST(HostBpe, MergesByRankAndFromTheLeft) {
    // Ranks are random, so that a merge can create a pair of a lower rank.
    int differ = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed, "merges");
        std::vector<Merge> merges;
        std::int32_t tokens = 3;
        for (int i = 0; i < 12; ++i) {
            const auto draw = [&] {
                return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(tokens)));
            };
            const Merge merge{draw(), draw(), tokens};
            const auto same = [&](const Merge& m) { return m.left == merge.left && m.right == merge.right; };
            if (std::ranges::any_of(merges, same)) continue;
            merges.insert(merges.begin() + static_cast<std::ptrdiff_t>(random.below(merges.size() + 1)), merge);
            ++tokens;
        }
        const MergeTable table(merges);
        Merger merger;
        for (int word = 0; word < 20; ++word) {
            Tokens symbols;
            for (std::uint64_t left = random.below(24); left > 0; --left) {
                symbols.push_back(static_cast<std::int32_t>(random.below(3)));
            }
            const Tokens wanted = merged_by_definition(merges, symbols), rounds = merged_in_rounds(merges, symbols);
            differ += wanted != rounds;
            Tokens merged = symbols;
            merger.merge(table, merged);
            EXPECT_EQ(merged, wanted) << "seed " << seed;
            merger.merge(table, symbols, MergeOrder::rounds);
            EXPECT_EQ(symbols, rounds) << "seed " << seed;
        }
    }
    EXPECT_GT(differ, 0);
}

TEST(HostBpe, NoMergesAreATableToo) {
    const MergeTable table({});
    EXPECT_EQ(table.find(0, 0), nullptr);
    Tokens tokens{1, 2};
    Merger().merge(table, tokens);
    EXPECT_EQ(tokens, (Tokens{1, 2}));
}

TEST(HostBpe, AWordThatIsATokenNeedsNoMerges) {
    BpeModel model;
    model.tokens = {"a", "b", "c", "ab", "abc"};
    for (int i = 0; i < 3; ++i) model.byte_tokens[static_cast<std::size_t>('a' + i)] = i;
    model.merges = {{0, 1, 3}};
    EXPECT_EQ(BpeTokenizer(model).encode("abc"), (Tokens{3, 2}));
    model.whole_words = true;
    EXPECT_EQ(BpeTokenizer(model).encode("abc"), (Tokens{4}));
    EXPECT_EQ(BpeTokenizer(model).encode("abcc"), (Tokens{3, 2, 2}));
    expect_holds(complaint([&] { BpeTokenizer(model).encode("ab\u00e9"); }),
                 "the vocabulary has no token for byte 0xC3");
}

TEST(HostBpe, CharactersFallBackToBytesOrToTheUnknownToken) {
    BpeModel model;
    model.tokens = {"?", " ", "a", "\u00e9", " a", "\xe2", "\x82", "\xac"};
    model.characters = {.unknown = 0, .fuse_unknown = true, .prepend_space = true};
    model.merges = {{1, 2, 4}};
    model.splits.push_back({Pattern(" +[^ ]*|[^ ]+", "words")});
    const std::string sign = "\u20ac";
    EXPECT_EQ(BpeTokenizer(model).encode("a" + sign + sign + "\u00e9"), (Tokens{4, 0, 3}));
    model.characters->fuse_unknown = false;
    EXPECT_EQ(BpeTokenizer(model).encode(sign + sign), (Tokens{1, 0, 0}));
    for (const auto& [byte, token] : {std::pair(0xe2, 5), {0x82, 6}, {0xac, 7}}) {
        model.byte_tokens[static_cast<std::size_t>(byte)] = token;
        model.hidden.push_back(token);
    }
    const BpeTokenizer tokenizer(model);
    EXPECT_EQ(tokenizer.encode(sign + " a"), (Tokens{1, 5, 6, 7, 4}));
    EXPECT_EQ(tokenizer.encode("\u2581a"), (Tokens{1, 4}));  // the sign for a space is a space
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(" a " + sign)), " a " + sign);
    model.characters->unknown = {};
    expect_holds(complaint([&] { BpeTokenizer(model).encode("a\u20ad"); }), "no token for character '\u20ad'");
}

TEST(HostBpe, TheCacheKeepsWhatIsShortAndForgetsWhatIsOld) {
    WordCache cache;
    const Tokens tokens{1, 2, 3};
    EXPECT_TRUE(cache.find("word").empty());
    cache.insert("word", tokens);
    EXPECT_TRUE(std::ranges::equal(cache.find("word"), tokens));
    EXPECT_TRUE(cache.find("wor").empty());
    EXPECT_TRUE(cache.find(std::string("word\0", 5)).empty());
    const std::string longest(30, 'x'), longer(31, 'x');
    cache.insert(longest, tokens);
    cache.insert(longer, tokens);
    EXPECT_TRUE(std::ranges::equal(cache.find(longest), tokens));
    EXPECT_TRUE(cache.find(longer).empty());
    cache.insert("many", Tokens(9));
    EXPECT_TRUE(cache.find("many").empty());
    std::size_t kept = 0;
    for (int i = 0; i < 200'000; ++i) cache.insert(std::to_string(i), std::array{i});
    for (int i = 0; i < 200'000; ++i) {
        const auto found = cache.find(std::to_string(i));
        if (found.empty()) continue;
        ++kept;
        ASSERT_EQ(found[0], i);
    }
    EXPECT_GT(kept, 50'000u);
    EXPECT_LE(kept, 1u << 17);
}

}  // namespace
}  // namespace vkf
