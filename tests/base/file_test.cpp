#include "base/files/file.h"
#include "base/files/managed_directory.h"

#include <iterator>
#include <vector>

#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(HostFile, MapsBytesAndMovesOwnership) {
    const Scratch scratch;
    const std::string bytes("a\0b\xff", 4);
    MappedFile file(scratch.file("data", bytes));
    MappedFile moved = std::move(file);
    EXPECT_TRUE(file.bytes().empty());  // NOLINT(bugprone-use-after-move)
    ASSERT_EQ(moved.bytes().size(), 4u);
    EXPECT_EQ(moved.bytes()[3], std::byte{0xff});
    file = std::move(moved);
    EXPECT_EQ(file.bytes().size(), 4u);
    EXPECT_EQ(read_text(scratch.path() / "data"), bytes);
}

TEST(HostFile, AnEmptyFileHasNoBytes) {
    const Scratch scratch;
    const fs::path path = scratch.file("empty", "");
    EXPECT_TRUE(MappedFile(path).bytes().empty());
    EXPECT_EQ(read_text(path), "");
}

TEST(HostFile, ReadingNamesPathAndReason) {
    const Scratch scratch;
    const fs::path missing = scratch.path() / "missing";
    for (const auto& message : {complaint([&] { MappedFile{missing}; }), complaint([&] { read_text(missing); })}) {
        expect_holds(message, missing.string());
        expect_holds(message, "No such file");
    }
    expect_holds(complaint([&] { MappedFile{scratch.path()}; }), "directory");
    expect_holds(complaint([&] { read_text(scratch.path()); }), "directory");
}

TEST(HostFile, AtomicWriteReplacesTheFileAndLeavesNothingElse) {
    const Scratch scratch;
    const fs::path path = scratch.file("model", "old");
    write_atomically(path, [&](FileWriter& file) {
        file.write("ne");
        EXPECT_EQ(read_text(path), "old");
        file.write("w");
        EXPECT_EQ(file.written(), 3u);
    });
    EXPECT_EQ(read_text(path), "new");
    write_atomically(scratch.path() / "fresh", "");
    EXPECT_EQ(read_text(scratch.path() / "fresh"), "");
    EXPECT_EQ(files_in(scratch.path()), 2u);
}

TEST(HostFile, ARelativeNameIsWrittenInTheWorkingDirectory) {
    const Scratch scratch;
    const fs::path before = fs::current_path();
    fs::current_path(scratch.path());
    write_atomically("plain", "x");
    fs::current_path(before);
    EXPECT_EQ(read_text(scratch.path() / "plain"), "x");
}

TEST(HostFile, AThrowingProducerLeavesTheOldFile) {
    const Scratch scratch;
    const fs::path path = scratch.file("model", "old");
    const auto produce = [](FileWriter& file) {
        file.write("half");
        throw Error("out of ideas");
    };
    EXPECT_EQ(complaint<Error>([&] { write_atomically(path, produce); }), "out of ideas");
    EXPECT_EQ(read_text(path), "old");
    EXPECT_EQ(files_in(scratch.path()), 1u);
}

TEST(HostFile, WritingWhereItCannotBeNamesPathAndReason) {
    const Scratch scratch;
    const auto attempt = [](const fs::path& path) {
        const auto message = complaint<Error>([&] { write_atomically(path, "x"); });
        expect_holds(message, path.string());
        return message;
    };
    expect_holds(attempt(scratch.path()), "directory");
    expect_holds(attempt(scratch.path() / "none" / "model"), "No such file");
}

TEST(HostFile, NamesMayHoldSpacesLettersOfAnyScriptAndMoreThan260Characters) {
    const Scratch scratch;
    const fs::path odd = scratch.path() / "a folder, äöü ß 模型 𝄞" / "a file.txt";
    fs::path deep = scratch.path();
    while (deep.string().size() < 600) deep /= "fünfzig Zeichen sind für eine Stufe genug, und mehr";
    for (const fs::path& path : {odd, deep / "model"}) {
        SCOPED_TRACE(path.string());
        ManagedDirectory::claim(path.parent_path()).publish([&](const fs::path& folder) {
            write_atomically(folder / path.filename(), "old");
        });
        write_atomically(path, "new");
        EXPECT_EQ(read_text(path), "new");
        EXPECT_EQ(MappedFile(path.string()).bytes().size(), 3u);  // a string is a path, too
        EXPECT_EQ(files_in(path.parent_path()), 1u);
        const FileLock lock(path.parent_path() / "lock");
        EXPECT_TRUE(fs::exists(path.parent_path() / "lock"));
        const fs::path missing = path.parent_path() / "missing";
        expect_holds(complaint([&] { read_text(missing); }), missing.string());
    }
}

TEST(HostFile, ALockIsHeldByOne) {
    const Scratch scratch;
    const fs::path path = scratch.path() / "lock";
    const auto attempt = [&] { return complaint<Error>([&] { FileLock{path}; }); };
    {
        FileLock lock(path), moved = std::move(lock);
        EXPECT_EQ(attempt(), scratch.path().string() + " is in use by another process");
    }
    EXPECT_EQ(attempt(), "");
    EXPECT_TRUE(fs::exists(path));
    expect_holds(complaint<Error>([&] { FileLock{scratch.path() / "no" / "lock"}; }), "cannot make");
}

}  // namespace
}  // namespace vkf
