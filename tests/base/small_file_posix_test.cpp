#include "base/files/small_file.h"

#include <sys/stat.h>

#include "base/files/file.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using test::Scratch;

TEST(HostSmallFile, IsReadWhole) {
    const Scratch scratch;
    EXPECT_EQ(read_small_text(scratch.file("a", std::string(200'000, 'x') + "\nend")),
              std::string(200'000, 'x') + "\nend");
    EXPECT_EQ(read_small_text(scratch.file("empty", "")), "");
    EXPECT_EQ(read_small_text(scratch.file("limit", "1234"), 4), "1234");
    EXPECT_FALSE(read_small_text("/proc/self/stat").empty());  // the system reports a size of 0 for it
}

TEST(HostSmallFile, WhatIsLargerIsRefusedWithSizeAndLimit) {
    const Scratch scratch;
    expect_holds(complaint([&] { read_small_text(scratch.file("a", "12345"), 4); }),
                 "a: it has 5 bytes, wanted at most 4");
    expect_holds(complaint([] { read_small_text("/proc/self/stat", 4); }), " or more bytes, wanted at most 4");
}

TEST(HostSmallFile, OnlyRegularFilesAreReadAndNothingIsWaitedFor) {
    const Scratch scratch;
    const std::filesystem::path pipe = scratch.path() / "pipe", link = scratch.path() / "link";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::filesystem::create_symlink("/dev/zero", link);
    for (const auto& path : {pipe, link}) {
        expect_holds(complaint([&] { read_small_text(path); }), path.string() + ": it is not a regular file");
        expect_holds(complaint([&] { MappedFile{path}; }), path.string() + ": it is not a regular file");
    }
    std::filesystem::create_symlink(scratch.file("file", "content"), scratch.path() / "other");
    EXPECT_EQ(read_small_text(scratch.path() / "other"), "content");
    expect_holds(complaint([&] { read_small_text(scratch.path() / "other", 10, Links::refused); }),
                 "other: Too many levels of symbolic links");
    expect_holds(complaint([&] { read_small_text(scratch.path()); }), "it is a directory, wanted a file");
    expect_holds(complaint([&] { read_small_text(scratch.path() / "none"); }), "none: No such file or directory");
}

}  // namespace
}  // namespace vkf
