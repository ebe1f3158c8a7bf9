#include "models/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/file.h"
#include "models/data/corpus.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

using Tokens = std::vector<std::uint16_t>;

Tokens counting(std::size_t n) {
    Tokens tokens(n);
    std::iota(tokens.begin(), tokens.end(), std::uint16_t{0});
    return tokens;
}

TEST(HostDataset, ADirectoryOfTokenFilesIsTakenAsItIs) {
    const Scratch scratch;
    write_tokens(scratch.path() / "train.bin", Tokens{5, 9, 1});
    write_tokens(scratch.path() / "val.bin", Tokens{11});
    TokenDataset opened = TokenDataset::open(scratch.path());
    const TokenDataset data = std::move(opened);
    EXPECT_TRUE(std::ranges::equal(data.train(), Tokens{5, 9, 1}));
    EXPECT_TRUE(std::ranges::equal(data.val(), Tokens{11}));
    EXPECT_EQ(data.vocabulary_size(), 12u);
    EXPECT_FALSE(data.characters());
    scratch.file("chars.json", "{\"type\":\"chars\",\"chars\":[\"a\",\"b\"]}");
    EXPECT_EQ(TokenDataset::open(scratch.path()).vocabulary_size(), 2u);
    fs::remove(scratch.path() / "val.bin");
    expect_holds(complaint([&] { TokenDataset::open(scratch.path()); }), "val.bin: No such file");
}

TEST(HostDataset, OneTokenFileIsSplit) {
    const Scratch scratch;
    write_tokens(scratch.path() / "x.bin", counting(21));
    const TokenDataset data = TokenDataset::open(scratch.path() / "x.bin");
    EXPECT_EQ(data.train().size(), 18u);
    ASSERT_EQ(data.val().size(), 3u);
    EXPECT_EQ(data.val()[0], 18);
}

TEST(HostDataset, TextBecomesCharacters) {
    const Scratch scratch;
    const fs::path path = scratch.file("texts/x.txt", "cabcabcab\u00e9\n");
    for (const fs::path& named : {path, path.parent_path()}) {
        TokenDataset opened = TokenDataset::open(named);
        const TokenDataset data = std::move(opened);
        EXPECT_TRUE(std::ranges::equal(data.train(), Tokens{3, 1, 2, 3, 1, 2, 3, 1, 2}));
        EXPECT_TRUE(std::ranges::equal(data.val(), Tokens{4, 0}));
        ASSERT_TRUE(data.characters());
        EXPECT_EQ(data.vocabulary_size(), 5u);
    }
}

TEST(HostDataset, TextIsSplitBeforeATokenizerSeesIt) {
    const Scratch scratch;
    const fs::path path = scratch.file("x.txt", "aaaaabbbbbcc");
    const auto length = [](std::string_view text) { return std::vector{static_cast<std::int32_t>(text.size()), 1}; };
    const TokenDataset data = TokenDataset::open(path, length);
    EXPECT_TRUE(std::ranges::equal(data.train(), Tokens{10, 1}));
    EXPECT_TRUE(std::ranges::equal(data.val(), Tokens{2, 1}));
    EXPECT_FALSE(data.characters());
    EXPECT_EQ(data.vocabulary_size(), 11u);
    const auto wide = [](std::string_view) { return std::vector<std::int32_t>{65536}; };
    expect_holds(complaint([&] { TokenDataset::open(path, wide); }), "token 65536 does not fit");
}

TEST(HostDataset, DataThatIsNotThereIsNamed) {
    expect_holds(complaint([] { TokenDataset::open("no/such/place"); }), "data no/such/place: does not exist");
}

TEST(HostDataset, SequentialWindowsFollowEachOther) {
    // the contract's formula, with several rows, a wrap-around and numbers past 2^32
    for (const std::size_t n : {8u, 9u, 101u}) {
        const Tokens tokens = counting(n);
        const std::size_t rows = 3, length = 7;
        const Batches batches("train", tokens, {Order::sequential, rows, length, 1});
        for (const std::uint64_t t : {0ull, 1ull, 2ull, 17ull, 5000000000ull}) {
            const Batch batch = batches.at(t);
            for (std::size_t b = 0; b < rows; ++b) {
                const std::size_t start = (t * rows + b) * length % (n - length);
                for (std::size_t i = 0; i < length; ++i) {
                    EXPECT_EQ(batch.tokens[b * length + i], tokens[start + i]);
                    EXPECT_EQ(batch.targets[b * length + i], tokens[start + i + 1]);
                }
            }
        }
    }
}

TEST(HostDataset, RandomWindowsDependOnSeedSplitAndNumberOnly) {
    const Tokens tokens = counting(1000);
    const auto starts = [&](const char* name, std::uint64_t seed, std::uint64_t t) {
        return Batches(name, tokens, {Order::random, 8, 10, seed}).starts(t);
    };
    const auto first = starts("train", 1, 5);
    EXPECT_EQ(starts("train", 1, 5), first);
    EXPECT_NE(starts("train", 1, 6), first);
    EXPECT_NE(starts("train", 2, 5), first);
    EXPECT_NE(starts("val", 1, 5), first);
    const Batches batches("train", tokens, {Order::random, 8, 10, 1});
    batches.at(7);  // nothing is remembered between calls
    EXPECT_EQ(batches.starts(5), first);
    EXPECT_EQ(batches.at(5).tokens[10], tokens[first[1]]);
}

TEST(HostDataset, RandomWindowsStartEverywhereAlike) {
    const Tokens tokens = counting(13);
    const Batches batches("train", tokens, {Order::random, 10, 3, 1});
    int counts[10] = {};
    const int draws = 20000;
    for (std::uint64_t t = 0; t < draws / 10; ++t) {
        for (const std::size_t start : batches.starts(t)) {
            ASSERT_LT(start, 10u);
            ++counts[start];
        }
    }
    for (const int count : counts) EXPECT_NEAR(count, draws / 10.0, 5 * std::sqrt(draws * 0.09));
}

TEST(HostDataset, TheShortestDataHasOneWindow) {
    const Tokens tokens = {4, 5, 6};
    for (const Order order : {Order::random, Order::sequential}) {
        const Batch batch = Batches("val", tokens, {order, 2, 2, 1}).at(3);
        EXPECT_EQ(batch.tokens, (std::vector<std::int32_t>{4, 5, 4, 5}));
        EXPECT_EQ(batch.targets, (std::vector<std::int32_t>{5, 6, 5, 6}));
    }
}

TEST(HostDataset, ImpossibleBatchesAreRefused) {
    const Tokens tokens = counting(4);
    const auto attempt = [&](std::size_t rows, std::size_t length) {
        return complaint([&] { Batches("val", tokens, {Order::random, rows, length, 1}); });
    };
    expect_holds(attempt(1, 4), "val data: 4 tokens, wanted more than the block size 4");
    expect_holds(attempt(0, 1), "0 x 1");
    expect_holds(attempt(1, 0), "1 x 0");
    const Batches batches("val", tokens, {Order::random, 1, 2, 1});
    std::vector<std::int32_t> small(1), right(2);
    expect_holds(complaint([&] { batches.fill(0, small, right); }), "wanted 1 x 2");
    expect_holds(complaint([] { order_named("shuffled"); }), "'shuffled' is unknown");
    EXPECT_EQ(order_named("random"), Order::random);
    EXPECT_EQ(order_named("sequential"), Order::sequential);
}

// Works in a folder of its own, with VKFORMER_DATA as told.
class HostCorpus : public testing::Test {
protected:
    HostCorpus() {
        if (const char* value = std::getenv("VKFORMER_DATA")) named_ = value;
        ::unsetenv("VKFORMER_DATA");
        fs::create_directories(scratch_.path() / "here");
        fs::current_path(scratch_.path() / "here");
    }
    ~HostCorpus() override {
        fs::current_path(before_);
        if (!named_.empty()) ::setenv("VKFORMER_DATA", named_.c_str(), 1);
    }
    void put(const fs::path& name, std::uintmax_t bytes = 1115394) {
        fs::resize_file(scratch_.file("here" / name, ""), bytes);
    }

    Scratch scratch_;

private:
    fs::path before_ = fs::current_path();
    std::string named_;
};

TEST_F(HostCorpus, TinyshakespeareIsFoundInTheOrderOfThePlaces) {
    EXPECT_FALSE(find_tinyshakespeare());
    put("data/input.txt", 7);  // some other text
    EXPECT_FALSE(find_tinyshakespeare());
    put("../shared/data/tinyshakespeare/input.txt");
    EXPECT_EQ(find_tinyshakespeare(), "../shared/data/tinyshakespeare/input.txt");
    put("data/input.txt");
    EXPECT_EQ(find_tinyshakespeare(), "data/input.txt");
    const fs::path named = scratch_.path() / "here" / "named";
    ::setenv("VKFORMER_DATA", named.c_str(), 1);
    EXPECT_EQ(find_tinyshakespeare(), "data/input.txt");
    put("named/input.txt");
    EXPECT_EQ(find_tinyshakespeare(), named / "input.txt");
    EXPECT_EQ(find_data("input.txt"), named / "input.txt");
    EXPECT_FALSE(find_data("cifar10"));
    ::unsetenv("VKFORMER_DATA");
}

}  // namespace
}  // namespace vkf
