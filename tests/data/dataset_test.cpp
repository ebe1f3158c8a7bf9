#include "models/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "base/files/file.h"
#include "models/data/batches.h"
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
    {
        TokenDataset opened = TokenDataset::open(scratch.path());  // Windows does not replace files that are open
        const TokenDataset data = std::move(opened);
        EXPECT_TRUE((data.train() == Tokens{5, 9, 1}));
        EXPECT_TRUE((data.val() == Tokens{11}));
        EXPECT_EQ(data.vocabulary_size(), 12u);
        EXPECT_FALSE(data.tokenizer());
    }
    scratch.file("chars.json", "{\"type\":\"chars\",\"chars\":[\"a\",\"b\"]}");
    expect_holds(complaint([&] { TokenDataset::open(scratch.path()); }), "train.bin: token 0 is 5, wanted 0 to 1 (");
    write_tokens(scratch.path() / "train.bin", Tokens{0, 1, 0});
    expect_holds(complaint([&] { TokenDataset::open(scratch.path()); }), "val.bin: token 0 is 11, wanted 0 to 1 (");
    write_tokens(scratch.path() / "val.bin", Tokens{0});
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
    EXPECT_EQ(data.val()[0], 18u);
}

TEST(HostDataset, TokensOf32BitsAreTakenWhole) {
    const Scratch scratch;
    const std::vector<std::uint32_t> wide{7, 70000, 65536, 1, 131072};
    write_tokens(scratch.path() / "train.bin", wide);
    write_tokens(scratch.path() / "val.bin", Tokens{65535});  // each file has its own format
    {
        const TokenDataset data = TokenDataset::open(scratch.path());
        EXPECT_TRUE(data.train() == wide);
        EXPECT_TRUE((data.val() == Tokens{65535}));
        EXPECT_EQ(data.vocabulary_size(), 131073u);
        const Batch batch = Batches("train", data.train(), {Order::sequential, 1, 4, 1}).at(0);
        EXPECT_EQ(batch.at("tokens"), (std::vector<std::int32_t>{7, 70000, 65536, 1}));
        EXPECT_EQ(batch.at("targets"), (std::vector<std::int32_t>{70000, 65536, 1, 131072}));
        expect_holds(complaint([&] { data.require_below(70000, "m"); }),
                     "train.bin: token 1 is 70000, wanted 0 to 69999");
    }
    write_tokens(scratch.path() / "train.bin", std::vector<std::uint32_t>{0, 0x7fffffff});
    expect_holds(complaint([&] { TokenDataset::open(scratch.path()); }),
                 "train.bin: token 1 is 2147483647, wanted 0 to 2147483646");
}

TEST(HostDataset, TokensBeyondAVocabularyAreNamed) {
    const Scratch scratch;
    write_tokens(scratch.path() / "x.bin", counting(21));
    const TokenDataset data = TokenDataset::open(scratch.path() / "x.bin");
    EXPECT_EQ(data.greatest_token(), 20u);
    EXPECT_EQ(data.vocabulary_size(), 21u);
    data.require_below(21, "m/chars.json");
    const std::string message = complaint([&] { data.require_below(20, "m/chars.json"); });
    expect_holds(message,
                 "x.bin: token 20 is 20, wanted 0 to 19 (m/chars.json)");  // counted in the file, not in its split
}

TEST(HostDataset, TextBecomesCharacters) {
    const Scratch scratch;
    const fs::path path = scratch.file("texts/x.txt", "cabcabcab\u00e9\n");
    for (const fs::path& named : {path, path.parent_path()}) {
        TokenDataset opened = TokenDataset::open(named);
        const TokenDataset data = std::move(opened);
        EXPECT_TRUE((data.train() == Tokens{3, 1, 2, 3, 1, 2, 3, 1, 2}));
        EXPECT_TRUE((data.val() == Tokens{4, 0}));
        ASSERT_TRUE(data.tokenizer());
        EXPECT_EQ(data.vocabulary_size(), 5u);
    }
}

TEST(HostDataset, TextIsSplitBeforeATokenizerSeesIt) {
    const Scratch scratch;
    const fs::path path = scratch.file("x.txt", "aaaaabbbbbcc");
    const auto length = [](std::string_view text) { return std::vector{static_cast<std::int32_t>(text.size()), 1}; };
    const TokenDataset data = TokenDataset::open(path, length);
    EXPECT_TRUE((data.train() == Tokens{10, 1}));
    EXPECT_TRUE((data.val() == Tokens{2, 1}));
    EXPECT_FALSE(data.tokenizer());
    EXPECT_EQ(data.vocabulary_size(), 11u);
    const auto wide = [](std::string_view) { return std::vector<std::int32_t>{65536}; };
    EXPECT_EQ(TokenDataset::open(path, wide).vocabulary_size(), 65537u);
    const auto choosy = [](std::string_view text) {
        if (text == "cc") throw InputError("no c");
        return std::vector<std::int32_t>{1};
    };
    expect_holds(complaint([&] { TokenDataset::open(path, choosy); }), "x.txt: validation part: no c");
}

TEST(HostDataset, DataThatIsNotThereIsNamed) {
    expect_holds(complaint([] { TokenDataset::open("no/such/place"); }), "data no/such/place: does not exist");
}

TEST(HostDataset, SequentialWindowsFollowEachOther) {
    // the documented formula, with several rows, a wrap-around and numbers past 2^32
    for (const std::size_t n : {8u, 9u, 101u}) {
        const Tokens tokens = counting(n);
        const std::size_t rows = 3, length = 7;
        const Batches batches("train", tokens, {Order::sequential, rows, length, 1});
        for (const std::uint64_t t : {0ull, 1ull, 2ull, 17ull, 5000000000ull}) {
            const Batch batch = batches.at(t);
            for (std::size_t b = 0; b < rows; ++b) {
                const std::size_t start = (t * rows + b) * length % (n - length);
                for (std::size_t i = 0; i < length; ++i) {
                    EXPECT_EQ(batch.at("tokens")[b * length + i], tokens[start + i]);
                    EXPECT_EQ(batch.at("targets")[b * length + i], tokens[start + i + 1]);
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
    batches.at(7);  // calls do not depend on earlier ones
    EXPECT_EQ(batches.starts(5), first);
    EXPECT_EQ(batches.at(5).at("tokens")[10], tokens[first[1]]);
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
        EXPECT_EQ(batch.at("tokens"), (std::vector<std::int32_t>{4, 5, 4, 5}));
        EXPECT_EQ(batch.at("targets"), (std::vector<std::int32_t>{5, 6, 5, 6}));
    }
}

TEST(HostDataset, AnObjectiveMakesAnotherTaskOfEveryBatch) {
    const Tokens tokens = counting(100);
    const auto hide_one = [](Batch& batch, Random& random) {
        const std::size_t hidden = random.below(batch.at("tokens").size());
        batch.at("targets").assign(batch.at("tokens").size(), -1);
        std::swap(batch.at("tokens")[hidden], batch.at("targets")[hidden]);
    };
    const Batches next("train", tokens, {Order::random, 4, 8, 1}),
        hiding("train", tokens, {Order::random, 4, 8, 1, hide_one});
    std::set<std::ptrdiff_t> hidden;
    for (std::uint64_t t = 0; t < 20; ++t) {
        const Batch plain = next.at(t), batch = hiding.at(t), again = hiding.at(t);
        EXPECT_EQ(batch.at("tokens"), again.at("tokens"));
        EXPECT_EQ(batch.at("targets"), again.at("targets"));
        const auto at = std::ranges::find(batch.at("tokens"), -1) - batch.at("tokens").begin();
        EXPECT_EQ(batch.at("targets")[static_cast<std::size_t>(at)], plain.at("tokens")[static_cast<std::size_t>(at)]);
        hidden.insert(at);
    }
    EXPECT_GT(hidden.size(), 5);  // of 32 places; the mask is drawn again for every batch
}

TEST(HostDataset, ImpossibleBatchesAreRefused) {
    const Tokens tokens = counting(4);
    const auto attempt = [&](std::size_t rows, std::size_t length) {
        return complaint([&] { Batches("val", tokens, {Order::random, rows, length, 1}); });
    };
    expect_holds(attempt(1, 4), "val data: 4 tokens, wanted more than the block size 4");
    expect_holds(attempt(0, 1), "0 x 1");
    expect_holds(attempt(1, 0), "1 x 0");
    expect_holds(complaint([] { order_named("shuffled"); }), "'shuffled' is unknown");
    EXPECT_EQ(order_named("random"), Order::random);
    EXPECT_EQ(order_named("sequential"), Order::sequential);
}

}  // namespace
}  // namespace vkf
