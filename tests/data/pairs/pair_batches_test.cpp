// Parallel texts, buckets of lengths, and batches of pairs.

#include "models/data/pairs/pair_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "models/data/pairs/length_buckets.h"
#include "models/data/text/text.h"
#include "scratch.h"

namespace vkf::test {
namespace {

/// Sum of all lengths, each padded to its bucket.
std::int64_t padded(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& bounds) {
    std::int64_t sum = 0;
    for (const std::int64_t length : lengths) sum += *std::ranges::lower_bound(bounds, length);
    return sum;
}

/// Least padding with these numbers of buckets, by trying all bounds.
std::int64_t least_padded(const std::vector<std::int64_t>& lengths, std::size_t most) {
    const std::set<std::int64_t> distinct(lengths.begin(), lengths.end());
    const std::vector<std::int64_t> values(distinct.begin(), distinct.end());
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t chosen = 0; chosen < 1u << (values.size() - 1); ++chosen) {
        std::vector<std::int64_t> bounds;
        for (std::size_t i = 0; i + 1 < values.size(); ++i)
            if (chosen >> i & 1) bounds.push_back(values[i]);
        bounds.push_back(values.back());
        if (bounds.size() <= most) least = std::min(least, padded(lengths, bounds));
    }
    return least;
}

TEST(HostLengthBuckets, LeaveTheLeastPadding) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Random random(seed, "lengths");
        std::vector<std::int64_t> lengths(1 + random.below(60));
        for (std::int64_t& length : lengths) length = 1 + static_cast<std::int64_t>(random.below(9) * random.below(4));
        for (const std::size_t most : {1u, 2u, 3u, 12u}) {
            const std::vector<std::int64_t> bounds = bucket_bounds(lengths, most);
            EXPECT_LE(bounds.size(), most);
            EXPECT_TRUE(std::ranges::is_sorted(bounds));
            EXPECT_EQ(bounds.back(), *std::ranges::max_element(lengths));
            EXPECT_EQ(padded(lengths, bounds), least_padded(lengths, most)) << "seed " << seed << ", " << most;
        }
    }
}

/// Pairs whose source i has as many characters as `lengths[i]`, and whose targets are one longer.
ParallelText text_of(const std::vector<std::size_t>& lengths) {
    ParallelText text{{}, {}, "a.txt", "b.txt"};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        text.source.emplace_back(lengths[i], static_cast<char>('a' + i % 26));
        text.target.emplace_back(lengths[i] + 1, static_cast<char>('a' + i % 26));
    }
    return text;
}

constexpr std::int32_t END = 26, BEGIN = 27;

const Characters& letters() {
    static const Characters all = Characters::of("abcdefghijklmnopqrstuvwxyz");
    return all;
}

TEST(HostPairBatches, EveryEpochHasEachPairOnceWithItsOwnTokens) {
    std::vector<std::size_t> lengths;
    Random random(3, "lengths");
    for (std::size_t i = 0; i < 26; ++i) lengths.push_back(1 + static_cast<std::size_t>(random.below(12)));
    const ParallelText text = text_of(lengths);
    const SentencePairs pairs(text, letters(), letters(), END, 100);
    const PairBatches batches("train", pairs, BEGIN, {.tokens = 40, .buckets = 3, .seed = 5});
    ASSERT_EQ(batches.shapes().size(), 3u);
    std::vector<std::vector<std::int32_t>> orders;
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        std::vector<std::int32_t> order;
        std::int64_t targets = 0;
        for (std::uint64_t number = epoch * batches.count(); number < (epoch + 1) * batches.count(); ++number) {
            const Batch batch = batches.at(number);
            const PairShape& shape = batches.shapes()[batches.shape_of(number)];
            EXPECT_LE(shape.rows * std::max(shape.source, shape.target), 40);
            const auto& source = batch.at("source_tokens");
            const auto& tokens = batch.at("tokens");
            const auto& wanted = batch.at("targets");
            ASSERT_EQ(std::ssize(source), shape.rows * shape.source);
            ASSERT_EQ(std::ssize(wanted), shape.rows * shape.target);
            targets += batches.targets(number);
            for (std::int64_t row = 0; row < shape.rows; ++row) {
                const std::int32_t length = batch.at("source_lengths")[static_cast<std::size_t>(row)];
                const std::int32_t target_length = batch.at("target_lengths")[static_cast<std::size_t>(row)];
                for (std::int64_t t = target_length; t < shape.target; ++t)
                    EXPECT_EQ(wanted[static_cast<std::size_t>(row * shape.target + t)], -1);
                if (length == 0) {
                    EXPECT_EQ(target_length, 0);
                    continue;
                }
                const std::int32_t letter = source[static_cast<std::size_t>(row * shape.source)];
                order.push_back(letter);
                EXPECT_EQ(length, static_cast<std::int32_t>(lengths[static_cast<std::size_t>(letter)]) + 1);
                EXPECT_EQ(source[static_cast<std::size_t>(row * shape.source + length - 1)], END);
                ASSERT_EQ(target_length, length + 1);
                EXPECT_EQ(tokens[static_cast<std::size_t>(row * shape.target)], BEGIN);
                for (std::int32_t t = 0; t < target_length; ++t) {
                    const auto at = static_cast<std::size_t>(row * shape.target + t);
                    EXPECT_EQ(wanted[at], t + 1 == target_length ? END : letter);
                    if (t > 0) {
                        EXPECT_EQ(tokens[at], letter);
                    }
                }
            }
        }
        EXPECT_EQ(targets, pairs.target_tokens());
        EXPECT_EQ(order.size(), 26u);
        EXPECT_EQ(std::set(order.begin(), order.end()).size(), 26u);
        orders.push_back(order);
    }
    EXPECT_NE(orders[0], orders[1]);
}

TEST(HostPairBatches, AreAFunctionOfSeedAndNumber) {
    const ParallelText text = text_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const SentencePairs pairs(text, letters(), letters(), END, 100);
    const PairBatches one("train", pairs, BEGIN, {.tokens = 20, .buckets = 4, .seed = 5});
    const PairBatches same("train", pairs, BEGIN, {.tokens = 20, .buckets = 4, .seed = 5});
    const PairBatches other("train", pairs, BEGIN, {.tokens = 20, .buckets = 4, .seed = 6});
    bool differs = false;
    for (const std::uint64_t number : {7u, 0u, 30u, 3u, 7u}) {  // not in order
        EXPECT_EQ(one.at(number), same.at(number));
        differs = differs || one.at(number) != other.at(number);
    }
    EXPECT_TRUE(differs);
}

TEST(HostPairBatches, PairsThatAreTooLongAreCounted) {
    const ParallelText text = text_of({1, 5, 9});
    const SentencePairs pairs(text, letters(), letters(), END, 7);  // the target of 5 has 6 letters and its end
    EXPECT_EQ(pairs.size(), 2u);
    EXPECT_EQ(pairs.too_long(), 1u);
    EXPECT_EQ(pairs.line(1), 1u);
    EXPECT_NE(complaint([&] { SentencePairs(text, letters(), letters(), END, 2); }).find("more than 2 tokens"),
              std::string::npos);
}

TEST(HostParallelText, LinesBelongTogether) {
    const Scratch scratch;
    const auto a = scratch.file("a.txt", "one\r\ntwo\n\nthree\n"), b = scratch.file("b.txt", "eins\nzwei\n\ndrei");
    const ParallelText text = read_parallel_files(a, b);
    EXPECT_EQ(text.source, (std::vector<std::string>{"one", "two", "three"}));
    EXPECT_EQ(text.target, (std::vector<std::string>{"eins", "zwei", "drei"}));
    EXPECT_EQ(text.skipped, 1u);
}

TEST(HostParallelText, UnequalFilesAndSingleEmptyLinesAreRefused) {
    const Scratch scratch;
    const auto three = scratch.file("three.txt", "a\nb\nc\n"), two = scratch.file("two.txt", "a\nb\n"),
               hole = scratch.file("hole.txt", "a\n \nc\n");
    EXPECT_NE(complaint([&] { read_parallel_files(three, two); }).find("has 3 lines"), std::string::npos);
    EXPECT_NE(complaint([&] { read_parallel_files(three, hole); }).find("hole.txt: line 2 is empty"),
              std::string::npos);
}

TEST(HostParallelText, FilesOfPairsAreRead) {
    const Scratch scratch;
    const ParallelText tsv = read_pair_file(scratch.file("a.tsv", "one\teins\ntwo\tzwei\n"), {});
    EXPECT_EQ(tsv.source, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(tsv.target, (std::vector<std::string>{"eins", "zwei"}));
    const ParallelText json =
        read_pair_file(scratch.file("a.jsonl", "{\"en\": \"a\\nb\", \"de\": \"c\", \"x\": 1}\n"), {"en", "de"});
    EXPECT_EQ(json.source.front(), "a b");
    EXPECT_EQ(json.target.front(), "c");
    const auto refused = [&](const char* name, const char* content, const char* word) {
        const std::string found = complaint([&] { read_pair_file(scratch.file(name, content), {"en", "de"}); });
        EXPECT_NE(found.find(word), std::string::npos) << found;
    };
    refused("b.tsv", "one\n", "line 1: wanted two columns");
    refused("c.tsv", "one\ttwo\tthree\n", "wanted two columns");
    refused("b.jsonl", "{\"en\": \"a\"}\n", "wanted an object with texts 'en' and 'de'");
    refused("c.jsonl", "{\"en\": \"a\", \"de\": 3}\n", "wanted an object");
    refused("a.txt", "one\n", "wanted a file of pairs");
}

}  // namespace
}  // namespace vkf::test
