// What directories hold, and what takes its place only when asked.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "models/files/held_files.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

TEST(HostHeldFiles, AnyOfThemIsInTheWay) {
    for (const char* name :
         {"config.json", "model.safetensors", "preprocessor_config.json", "chars.json", "train.toml",
          "optimizer.safetensors", "metrics.jsonl", "train.bin", "val.bin", "test.bin", "data_batch_5.bin",
          "batches.meta.txt", "best/model.safetensors", "tokenizer.json", "web_train_000001.bin", "web_val.bin"}) {
        const Scratch scratch;
        scratch.file(name, "old");
        expect_holds(complaint([&] { claim_directory(scratch.path(), false); }), text(" (", name, "); --overwrite"));
        EXPECT_EQ(claim_directory(scratch.path(), true), std::vector<fs::path>{name});
    }
}

TEST(HostHeldFiles, OtherAndEmptyFilesAreNot) {
    const Scratch scratch;
    EXPECT_TRUE(claim_directory(scratch.path() / "none", false).empty());
    scratch.file("input.txt", "to be");
    scratch.file("best/notes.txt", "or not");
    scratch.file(".lock", "");
    EXPECT_TRUE(claim_directory(scratch.path(), false).empty());
    scratch.file("metrics.jsonl", "");  // of a run that was killed before it had anything
    EXPECT_EQ(claim_directory(scratch.path(), false), std::vector<fs::path>{"metrics.jsonl"});
}

TEST(HostHeldFiles, WhatIsReadIsNeverReplaced) {
    const Scratch scratch;
    scratch.file("train.bin", "tokens");
    for (const fs::path& input : {scratch.path(), scratch.path() / "train.bin"})
        expect_holds(complaint([&] { claim_directory(scratch.path(), true, input); }),
                     "(train.bin), which --overwrite");
    EXPECT_EQ(claim_directory(scratch.path(), true, scratch.path() / "val.bin").size(), 1u);
}

TEST(HostHeldFiles, APublicationThatWasCutShortIsThere) {
    const Scratch scratch;
    scratch.file(".saved/config.json", "{}");
    EXPECT_EQ(held_files(scratch.path()).size(), 1u);
    EXPECT_EQ(read_text(scratch.path() / "config.json"), "{}");
}

}  // namespace
}  // namespace vkf::test
