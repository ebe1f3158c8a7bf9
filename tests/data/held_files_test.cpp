// Files found in directories, which are replaced only on request.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "models/files/held_files.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

TEST(HostHeldFiles, AnyOfThemIsInTheWay) {
    for (const char* name : {"config.json",
                             "model.safetensors",
                             "preprocessor_config.json",
                             "chars.json",
                             "train.toml",
                             "optimizer.safetensors",
                             "metrics.jsonl",
                             "train.bin",
                             "val.bin",
                             "test.tsv",
                             "val.jsonl",
                             "test.bin",
                             "data_batch_5.bin",
                             "batches.meta.txt",
                             "best/model.safetensors",
                             "tokenizer.json",
                             "bpe.codes",
                             "source.bpe.codes",
                             "target.tokenizer_config.json",
                             "source.vocab.json",
                             "web_train_000001.bin",
                             "web_val.bin"}) {
        const Scratch scratch;
        scratch.file(name, "old");
        expect_holds(complaint([&] { claim_directory(scratch.path(), false); }), text(" (", name, "); --overwrite"));
        EXPECT_EQ(claim_directory(scratch.path(), true).obsolete, std::vector<fs::path>{name});
    }
}

TEST(HostHeldFiles, OtherAndEmptyFilesAreNot) {
    const Scratch scratch;
    EXPECT_TRUE(claim_directory(scratch.path() / "none", false).obsolete.empty());
    EXPECT_FALSE(fs::exists(scratch.path() / "none"));
    scratch.file("input.txt", "to be");
    scratch.file("other.bpe.codes", "that is the question");
    scratch.file("best/notes.txt", "or not");
    scratch.file(".lock", "");
    EXPECT_TRUE(claim_directory(scratch.path(), false).obsolete.empty());
    scratch.file("metrics.jsonl", "");  // from a run that was killed before it wrote any metrics
    EXPECT_EQ(claim_directory(scratch.path(), false).obsolete, std::vector<fs::path>{"metrics.jsonl"});
}

TEST(HostHeldFiles, WhatIsReadIsNeverReplaced) {
    const Scratch scratch;
    scratch.file("train.bin", "tokens");
    for (const fs::path& input : {scratch.path(), scratch.path() / "train.bin"})
        expect_holds(complaint([&] { claim_directory(scratch.path(), true, {input}); }),
                     "(train.bin), which --overwrite");
    EXPECT_EQ(claim_directory(scratch.path(), true, {scratch.path() / "val.bin"}).obsolete.size(), 1u);
}

TEST(HostHeldFiles, APublicationThatWasCutShortIsThereAndStaysAsItIs) {
    const Scratch scratch;
    scratch.file(".saved/config.json", "{}");
    scratch.file("chars.json", "old");
    scratch.file(".saved/.obsolete", "chars.json\n");
    EXPECT_EQ(held_files(scratch.path()).size(), 1u);
    EXPECT_EQ(read_text(scratch.path() / "config.json"), "{}");
    EXPECT_TRUE(fs::exists(scratch.path() / ".saved" / "config.json"));
    EXPECT_TRUE(fs::exists(scratch.path() / "chars.json"));
    expect_holds(complaint([&] { claim_directory(scratch.path(), false); }), "config.json");
    EXPECT_TRUE(fs::exists(scratch.path() / ".saved" / "config.json"));
}

TEST(HostHeldFiles, ADirectoryIsClaimedByOne) {
    const Scratch scratch;
    const ClaimedDirectory first = claim_directory(scratch.path() / "out", false);
    expect_holds(complaint<Error>([&] { claim_directory(scratch.path() / "out", true); }), "in use by another process");
}

}  // namespace
}  // namespace vkf::test
