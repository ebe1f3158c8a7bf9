// Splits in several token files: finding the files, joining their tokens, and reading batches.
#include "models/data/text/token_shards.h"

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "models/data/batches.h"
#include "models/data/dataset.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

using Tokens = std::vector<std::uint16_t>;
constexpr std::int32_t MAGIC_16 = 20240520, MAGIC_32 = 20240801;

template <class Token>
fs::path write_shard(const Scratch& scratch, const char* name, std::int32_t magic, std::int32_t version,
                     const std::vector<Token>& tokens) {
    std::vector<std::int32_t> header(256);
    header[0] = magic;
    header[1] = version;
    header[2] = static_cast<std::int32_t>(tokens.size());
    std::string bytes(reinterpret_cast<const char*>(header.data()), 1024);
    bytes.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(Token));
    return scratch.file(name, bytes);
}

fs::path write_shard(const Scratch& scratch, const char* name, const Tokens& tokens) {
    return write_shard(scratch, name, MAGIC_16, 1, tokens);
}

/// Tokens first, first + 1, …
Tokens counting(std::uint16_t first, std::size_t count) {
    Tokens tokens(count);
    std::iota(tokens.begin(), tokens.end(), first);
    return tokens;
}

TEST(HostTokenShards, NamesTellSplitsAndOrder) {
    const Scratch scratch;
    for (const char* name : {"web_train_000010.bin", "web_train_000002.bin", "web_train_000001.bin",
                             "web_val_000000.bin", "web_test_000000.bin", "train_1.bin", "_train.bin",
                             "web_train_000003.npy", "web_train_000004.np", "web_train1.bin", "train.txt"})
        scratch.file(name, "tokens");
    const TokenShards shards = find_token_shards(scratch.path());
    std::vector<std::string> names;
    for (const fs::path& file : shards.train) names.push_back(file.filename().string());
    EXPECT_EQ(names, (std::vector<std::string>{"web_train_000001.bin", "web_train_000002.bin", "web_train_000003.npy",
                                               "web_train_000010.bin"}));
    EXPECT_EQ(shards.val, std::vector{scratch.path() / "web_val_000000.bin"});
    EXPECT_TRUE(is_token_shard("tiny_shakespeare_val.bin"));  // llm.c's name of a single file
    EXPECT_TRUE(find_token_shards(fs::temp_directory_path() / "no such folder").empty());
}

TEST(HostTokenShards, OneDataSetWithBothSplitsIsWanted) {
    const Scratch scratch;
    write_shard(scratch, "web_train_1.bin", Tokens{1});
    const auto attempt = [&] { return complaint([&] { find_token_shards(scratch.path()); }); };
    expect_holds(attempt(), "has web_train_1.bin, but no shard for validation, wanted NAME_val_*.bin");
    const fs::path other = write_shard(scratch, "books_val_1.bin", Tokens{1});
    expect_holds(attempt(), "web_train_1.bin: is a shard of web, and books_val_1.bin of books");
    fs::rename(other, scratch.path() / "web_val_1.bin");
    EXPECT_EQ(attempt(), "");
    fs::remove(scratch.path() / "web_train_1.bin");
    expect_holds(attempt(), "has web_val_1.bin, but no shard for training");
    write_shard(scratch, "web_train_1.bin", Tokens{1});
    write_tokens(scratch.path() / "train.bin", Tokens{1});
    expect_holds(complaint([&] { TokenDataset::open(scratch.path()); }),
                 "has train.bin or val.bin and shards (web_train_1.bin, …), wanted one of the two");
}

TEST(HostTokenShards, AreOneSequence) {
    const Scratch scratch;
    write_shard(scratch, "web_train_000002.bin", Tokens{7, 300, 2});
    write_shard(scratch, "web_train_000001.bin", Tokens{5, 9});
    write_shard(scratch, "web_train_000003.bin", Tokens{4});
    write_shard(scratch, "web_val_000000.bin", Tokens{8, 0});
    TokenDataset opened = TokenDataset::open(scratch.path());
    const TokenDataset data = std::move(opened);
    EXPECT_TRUE((data.train() == Tokens{5, 9, 7, 300, 2, 4}));
    EXPECT_FALSE((data.train() == Tokens{5, 9, 7, 300, 2, 5}));
    EXPECT_TRUE((data.val() == Tokens{8, 0}));
    EXPECT_EQ(data.train().shards().size(), 3u);
    EXPECT_EQ(data.vocabulary_size(), 301u);
    expect_holds(complaint([&] { data.require_below(300, "m"); }), "web_train_000002.bin: token 1 is 300, wanted 0");
}

TEST(HostTokenShards, AreAllOfOneLayout) {
    const Scratch scratch;
    write_shard(scratch, "web_train_1.bin", Tokens{5, 9});
    write_shard(scratch, "web_val_1.bin", Tokens{5});
    const auto attempt = [&] { return complaint([&] { TokenDataset::open(scratch.path()); }); };
    EXPECT_EQ(attempt(), "");
    write_shard(scratch, "web_train_2.bin", MAGIC_32, 7, std::vector<std::uint32_t>{1});
    expect_holds(attempt(),
                 "web_train_2.bin: has 32-bit tokens behind llm.c's header, wanted 16-bit tokens behind "
                 "llm.c's header as in web_train_1.bin");
    write_tokens(scratch.path() / "web_train_2.bin", Tokens{1});
    expect_holds(attempt(), "web_train_2.bin: has 16-bit tokens without a header, wanted 16-bit tokens behind");
    write_shard(scratch, "web_train_2.bin", MAGIC_16, 2, Tokens{1});
    expect_holds(attempt(), "web_train_2.bin: llm.c version 2, wanted 1");
    fs::resize_file(write_shard(scratch, "web_train_2.bin", Tokens{1, 2}), 1026);
    expect_holds(attempt(), "web_train_2.bin: header says 2 tokens (4 bytes), but 2 bytes follow");
    scratch.file("web_train_2.bin", "");
    expect_holds(attempt(), "web_train_2.bin: is empty");
}

/// Shards of these sizes; no two tokens are equal.
struct Shards {
    explicit Shards(const std::vector<std::size_t>& sizes) {
        std::vector<TokenSpan> spans;
        std::uint16_t first = 0;
        for (const std::size_t size : sizes) {
            tokens.push_back(counting(first, size));
            first = static_cast<std::uint16_t>(first + size);
        }
        for (const Tokens& each : tokens) spans.push_back(each);
        stream = TokenStream(spans);
    }

    std::vector<Tokens> tokens;
    TokenStream stream;
};

TEST(HostTokenShards, RandomWindowsStartEverywhereAlikeAndLieInOneShard) {
    const Shards shards({9, 3, 4, 24, 0, 7});  // one shard is too short for a window and its target
    const std::size_t length = 3;
    const Batches batches("train", shards.stream, {Order::random, 10, length, 1});
    std::map<std::size_t, int> counts;
    const int draws = 30000;
    for (std::uint64_t t = 0; t < draws / 10; ++t)
        for (const std::size_t start : batches.starts(t)) ++counts[start];
    std::vector<std::size_t> possible;
    std::size_t first = 0;
    for (const Tokens& shard : shards.tokens) {
        for (std::size_t i = 0; i + length < shard.size(); ++i) possible.push_back(first + i);
        first += shard.size();
    }
    ASSERT_EQ(counts.size(), possible.size());
    const double share = draws / static_cast<double>(possible.size());
    for (const std::size_t start : possible) EXPECT_NEAR(counts[start], share, 5 * std::sqrt(share)) << start;
    const Batch batch = batches.at(5);
    for (std::size_t row = 0; row < 10; ++row)
        for (std::size_t i = 0; i < length; ++i) {
            EXPECT_EQ(batch.at("tokens")[row * length + i], static_cast<std::int32_t>(batches.starts(5)[row] + i));
            EXPECT_EQ(batch.at("targets")[row * length + i], batch.at("tokens")[row * length + i] + 1);
        }
}

TEST(HostTokenShards, SequentialBatchesAreThoseOfThePublishedReader) {
    // modded-nanogpt's order: batches of all processes follow each other; the position advances by all of them, and
    // moves to the next shard if fewer tokens remain.
    const std::size_t rows = 2, length = 3, processes = 4, update = processes * rows * length;
    const Shards shards({2 * update + 1, update, 3 * update, update + 1});  // 2 updates, none, 2 and 1
    const Batches batches("train", shards.stream, {Order::sequential, rows, length, 1, {}, processes});
    std::size_t shard = 0, position = 0;
    const auto next_shard = [&] {
        do shard = (shard + 1) % shards.tokens.size();
        while (shards.tokens[shard].size() < update + 1);
        position = 0;
    };
    for (std::uint64_t step = 0; step < 12; ++step) {
        for (std::size_t process = 0; process < processes; ++process) {
            const Batch batch = batches.at(step * processes + process);
            for (std::size_t i = 0; i < rows * length; ++i) {
                const std::size_t at = position + process * rows * length + i;
                EXPECT_EQ(batch.at("tokens")[i], shards.tokens[shard][at]) << step << ", " << process;
                EXPECT_EQ(batch.at("targets")[i], shards.tokens[shard][at + 1]) << step << ", " << process;
            }
        }
        position += update;
        if (position + update + 1 > shards.tokens[shard].size()) next_shard();
    }
}

TEST(HostTokenShards, ShardsThatAreAllTooShortAreRefused) {
    const Shards shards({5, 12});
    const auto attempt = [&](Order order, std::size_t length) {
        return complaint([&] { Batches("train", shards.stream, {order, 2, length, 1, {}, 2}); });
    };
    EXPECT_EQ(attempt(Order::random, 11), "");
    expect_holds(attempt(Order::random, 12), "12 tokens in the longest shard, wanted more than the block size 12");
    EXPECT_EQ(attempt(Order::sequential, 2), "");
    expect_holds(attempt(Order::sequential, 3), "12 tokens in the longest shard, wanted more than an update's 12");
}

}  // namespace
}  // namespace vkf
