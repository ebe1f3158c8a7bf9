// Sets of files that appear at once.

#include "base/files/managed_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <vector>

#include "base/files/file.h"
#include "base/files/published.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

void publish(const fs::path& directory, const ManagedDirectory::Fill& fill,
             const std::vector<fs::path>& obsolete = {}) {
    ManagedDirectory::claim(directory).publish(fill, obsolete);
}

TEST(HostManagedDirectory, PublishingReplacesASetAndKeepsTheRest) {
    const Scratch scratch;
    const fs::path best = scratch.path() / "run" / "best";
    for (const std::string version : {"old", "new"}) {
        ManagedDirectory::claim(best).publish([&](const fs::path& folder) {
            write_atomically(folder / "config.json", version);
            write_atomically(folder / "model", version);
        });
        EXPECT_EQ(read_text(best / "config.json"), version);
        EXPECT_EQ(read_text(best / "model"), version);
        write_atomically(best / "metrics", "kept");
    }
    EXPECT_EQ(read_text(best / "metrics"), "kept");
    EXPECT_EQ(files_in(best), 3u);
}

TEST(HostManagedDirectory, WhatASetMakesObsoleteGoesWithIt) {
    const Scratch scratch;
    for (const char* old : {"model", "chars", "best/model", "best/chars", "notes"}) scratch.file(old, "old");
    const std::vector<fs::path> obsolete = {"model", "chars", "best/model", "best/chars", "never"};
    const auto fail = [](const fs::path&) { throw Error("device lost"); };
    EXPECT_EQ(complaint<Error>([&] { publish(scratch.path(), fail, obsolete); }), "device lost");
    EXPECT_EQ(read_text(scratch.path() / "best" / "chars"), "old");
    publish(
        scratch.path(), [](const fs::path& folder) { write_atomically(folder / "model", "new"); }, obsolete);
    EXPECT_EQ(read_text(scratch.path() / "model"), "new");
    EXPECT_EQ(read_text(scratch.path() / "notes"), "old");
    EXPECT_EQ(files_in(scratch.path()), 2u);

    scratch.file("chars", "old");  // killed after the set had become valid
    scratch.file(".saved/model", "newer");
    scratch.file(".saved/.obsolete", "chars\n");
    ManagedDirectory::claim(scratch.path()).settle();
    EXPECT_EQ(read_text(scratch.path() / "model"), "newer");
    EXPECT_EQ(files_in(scratch.path()), 2u);
}

TEST(HostManagedDirectory, AFailedPublicationLeavesTheOldSet) {
    const Scratch scratch;
    scratch.file("model", "old");
    const auto fail = [](const fs::path& folder) {
        write_atomically(folder / "model", "new");
        throw Error("device lost");
    };
    EXPECT_EQ(complaint<Error>([&] { publish(scratch.path(), fail); }), "device lost");
    EXPECT_EQ(complaint<Error>([&] { publish(scratch.path() / "new", fail); }), "device lost");
    EXPECT_FALSE(fs::exists(scratch.path() / "new"));
    const auto nest = [](const fs::path& folder) { fs::create_directory(folder / "sub"); };
    expect_holds(complaint<Error>([&] { publish(scratch.path(), nest); }), "in the way");
    EXPECT_EQ(read_text(scratch.path() / "model"), "old");
    EXPECT_EQ(files_in(scratch.path()), 1u);
}

TEST(HostManagedDirectory, SettlingFinishesWhatWasValidAndIgnoresWhatWasNot) {
    const Scratch scratch;
    scratch.file("a", "new");  // killed between moving a and moving b
    scratch.file("b", "old");
    scratch.file(".saved/b", "new");
    scratch.file(".saving/a", "half");
    ManagedDirectory::claim(scratch.path()).settle();
    EXPECT_EQ(read_text(scratch.path() / "a"), "new");
    EXPECT_EQ(read_text(scratch.path() / "b"), "new");
    EXPECT_FALSE(fs::exists(scratch.path() / ".saved"));
    ManagedDirectory::claim(scratch.path()).settle();
    publish(scratch.path(), [](const fs::path& folder) {
        EXPECT_FALSE(fs::exists(folder / "a"));
        write_atomically(folder / "b", "newer");
    });
    EXPECT_EQ(read_text(scratch.path() / "b"), "newer");
    EXPECT_EQ(files_in(scratch.path()), 2u);
}

TEST(HostManagedDirectory, IsOneProcesssAtATime) {
    const Scratch scratch;
    const fs::path path = scratch.path() / "new" / "run";
    const auto attempt = [&] { return complaint<Error>([&] { ManagedDirectory::claim(path); }); };
    {
        ManagedDirectory held = ManagedDirectory::claim(path), moved = std::move(held);
        EXPECT_EQ(attempt(), path.string() + " is in use by another process");
        write_atomically(path / "model", "kept");
    }
    EXPECT_EQ(attempt(), "");
    EXPECT_EQ(files_in(path), 1u);
    fs::remove(path / "model");
    EXPECT_EQ(attempt(), "");
    EXPECT_TRUE(fs::exists(path));  // the directory existed before
    ManagedDirectory::claim(scratch.path() / "empty");
    EXPECT_FALSE(fs::exists(scratch.path() / "empty"));
    expect_holds(complaint<Error>([&] { ManagedDirectory::claim(scratch.file("file", "")); }), "cannot");
}

TEST(HostManagedDirectory, AFolderAppearsWhole) {
    const Scratch scratch;
    ManagedDirectory run = ManagedDirectory::claim(scratch.path());
    run.publish_folder("checkpoint-1", [&](const fs::path& folder) {
        EXPECT_FALSE(fs::exists(scratch.path() / "checkpoint-1"));
        write_atomically(folder / "model", "one");
    });
    EXPECT_EQ(read_text(scratch.path() / "checkpoint-1" / "model"), "one");
    const auto fail = [](const fs::path&) { throw Error("disk full"); };
    EXPECT_EQ(complaint<Error>([&] { run.publish_folder("checkpoint-2", fail); }), "disk full");
    EXPECT_EQ(complaint<Error>([&] { run.publish_in("best", fail); }), "disk full");
    EXPECT_EQ(files_in(scratch.path()), 2u);  // including the lock
}

TEST(HostPublished, AReaderSeesAHalfMovedSetWholeAndChangesNothing) {
    const Scratch scratch;
    scratch.file("a", "new");
    scratch.file("b", "old");
    scratch.file("c", "kept");
    scratch.file("gone", "old");
    scratch.file("best/gone", "old");
    scratch.file(".saved/b", "new");
    scratch.file(".saved/.obsolete", "gone\nbest/gone\n");
    const std::size_t before = files_in(scratch.path());
    for (const char* name : {"a", "b"}) {
        EXPECT_EQ(read_text(scratch.path() / name), "new");
        EXPECT_EQ(MappedFile(scratch.path() / name).bytes().size(), 3u);
    }
    EXPECT_EQ(read_text(scratch.path() / "c"), "kept");
    for (const char* name : {"gone", "best/gone", "never"}) {
        EXPECT_FALSE(file_exists(scratch.path() / name)) << name;
        expect_holds(complaint([&] { read_text(scratch.path() / name); }), (scratch.path() / name).string());
    }
    EXPECT_EQ(published_names(scratch.path()), (std::vector<fs::path>{"a", "b", "c"}));
    EXPECT_EQ(files_in(scratch.path()), before);
    EXPECT_EQ(read_text(scratch.path() / ".saved" / "b"), "new");
}

}  // namespace
}  // namespace vkf::test
