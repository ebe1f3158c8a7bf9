// Directories with links that other programs made, and publishers that are killed.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/files/managed_directory.h"
#include "base/files/published.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

TEST(HostManagedDirectory, AListOfWhatGoesReachesNothingOutside) {
    const Scratch scratch;
    const fs::path victim = scratch.file("victim", "kept"), model = scratch.path() / "model";
    scratch.file("other/victim", "kept");
    scratch.file("model/.saved/a", "new");
    fs::create_directory_symlink(scratch.path() / "other", model / "best");
    const std::vector<std::string> outside{"../victim", victim.string(), "best/victim", "a/../../victim"};
    for (const std::string& name : outside) {
        scratch.file("model/.saved/.obsolete", name + "\n");
        SCOPED_TRACE(name);
        expect_holds(complaint<InputError>([&] { ManagedDirectory::claim(model).settle(); }), "outside");
        EXPECT_EQ(read_text(victim), "kept") << name;
        EXPECT_EQ(read_text(scratch.path() / "other" / "victim"), "kept") << name;
    }
}

TEST(HostManagedDirectory, AKilledPublisherLeavesOneSet) {
    const Scratch scratch;
    const std::vector<std::string> names = {"a", "b", "c", "d"};
    const auto publish = [&](int version) {
        ManagedDirectory::claim(scratch.path()).publish([&](const fs::path& folder) {
            for (const auto& name : names) write_atomically(folder / name, text(version));
        });
    };
    publish(0);
    int version = 0;
    for (int round = 0; round < 12; ++round) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            try {
                for (int next = version + 1;; ++next) publish(next);
            } catch (...) {
                ::_exit(1);  // the child must not run the remaining tests
            }
        }
        ::usleep(static_cast<useconds_t>(3000 + 1700 * round));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        ManagedDirectory::claim(scratch.path()).settle();
        const std::string found = read_text(scratch.path() / "a");
        for (const auto& name : names) EXPECT_EQ(read_text(scratch.path() / name), found);
        EXPECT_GE(std::stoi(found), version);
        version = std::stoi(found);
    }
}

void write_all(const fs::path& folder) {
    for (const char* name : {"config.json", "model"}) write_atomically(folder / name, "new");
}

// Each name that a publisher uses is a link to another file or folder.
TEST(HostManagedDirectory, NamesThatAreLinksAreNotFollowed) {
    for (const char* name : {".lock", ".saving", ".saved", "model", "config.json", "best", "metrics.jsonl"}) {
        for (const bool folder : {true, false}) {
            SCOPED_TRACE(text(name, folder ? " to a folder" : " to a file"));
            const Scratch scratch;
            scratch.file("victim/file", "kept");
            scratch.file("victim/model", "kept");
            fs::create_directory(scratch.path() / "run");
            fs::create_symlink(folder ? "../victim" : "../victim/file", scratch.path() / "run" / name);
            try {
                ManagedDirectory run = ManagedDirectory::claim(scratch.path() / "run");
                run.publish(write_all);
                run.publish_in("best", write_all);
                run.replace("metrics.jsonl", "new");
                const os::File log = run.folder().open("metrics.jsonl", os::Open::append);
                FileWriter(log, "metrics.jsonl").write(std::string_view("line\n"));
            } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find((scratch.path() / "run").string()), std::string::npos)
                    << error.what();
            }
            EXPECT_EQ(read_text(scratch.path() / "victim" / "file"), "kept");
            EXPECT_EQ(read_text(scratch.path() / "victim" / "model"), "kept");
            EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path() / "victim"), {}), 2);
        }
    }
}

TEST(HostPublished, ASetBehindALinkIsNone) {
    const Scratch scratch;
    scratch.file("victim/model", "another's");
    scratch.file("run/model", "own");
    fs::create_directory_symlink("../victim", scratch.path() / "run" / saved_folder);
    EXPECT_EQ(read_text(scratch.path() / "run" / "model"), "own");
    EXPECT_EQ(published_names(scratch.path() / "run"), std::vector<fs::path>{"model"});
}

TEST(HostFile, AWriterTakesNoFileThatHasAnotherName) {
    const Scratch scratch;
    const fs::path victim = scratch.file("victim", "kept"), path = scratch.path() / "report.json";
    fs::create_symlink(victim, scratch.path() / ".report.json.tmp");
    EXPECT_FALSE(complaint<Error>([&] { write_atomically(path, "new"); }).empty());
    fs::remove(scratch.path() / ".report.json.tmp");
    for (const char* content : {"kept", ""}) {
        scratch.file("victim", content);
        fs::create_hard_link(victim, scratch.path() / ".report.json.tmp");
        write_atomically(path, "new");
        EXPECT_EQ(read_text(victim), content);
        EXPECT_EQ(read_text(path), "new");
    }
    scratch.file(".report.json.tmp", "what a kill left");
    write_atomically(path, "new");
    EXPECT_EQ(read_text(path), "new");
    EXPECT_FALSE(fs::exists(scratch.path() / ".report.json.tmp"));
}

TEST(HostFile, OfTwoWritersOfAFileOneIsTold) {
    const Scratch scratch;
    const fs::path path = scratch.file("report.json", "old");
    write_atomically(path, [&](FileWriter& file) {
        expect_holds(complaint<Error>([&] { write_atomically(path, "second"); }), "another process is writing it");
        file.write(std::string_view("first"));
    });
    EXPECT_EQ(read_text(path), "first");
}

TEST(HostFile, APipeIsNotWaitedFor) {
    const Scratch scratch;
    const fs::path pipe = scratch.path() / "model.safetensors";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    expect_holds(complaint([&] { MappedFile{pipe}; }), "not a regular file");
}

}  // namespace
}  // namespace vkf::test
