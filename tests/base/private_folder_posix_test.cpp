#include "base/files/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/os/os.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

unsigned mode_of(const fs::path& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
}

TEST(HostPrivateFolder, IsMadeForTheUserAlone) {
    const Scratch scratch;
    const fs::path folder = scratch.path() / "above/folder";
    EXPECT_EQ(make_private_folder(folder), FolderOwner::ours);
    EXPECT_EQ(mode_of(folder), 0700u);
    EXPECT_EQ(make_private_folder(folder), FolderOwner::ours);  // now it exists
}

TEST(HostPrivateFolder, OneThatOthersMayWriteIntoIsForeign) {
    const Scratch scratch;
    const fs::path folder = scratch.path() / "folder";
    fs::create_directory(folder);
    const auto with = [&](mode_t mode) {
        ::chmod(folder.c_str(), mode);
        return make_private_folder(folder);
    };
    EXPECT_EQ(with(0755), FolderOwner::ours);
    EXPECT_EQ(with(0775), FolderOwner::foreign);
    EXPECT_EQ(with(0777), FolderOwner::foreign);
    EXPECT_EQ(with(01777), FolderOwner::foreign);
    EXPECT_EQ(mode_of(folder), 01777u) << "it is left as it is";
}

TEST(HostPrivateFolder, AnothersIsForeign) {
    const Scratch scratch;
    const fs::path folder = scratch.path() / "folder";
    fs::create_directory(folder);
    const bool root = ::geteuid() == 0;
    ASSERT_TRUE(!root || ::chown(folder.c_str(), 12345, 12345) == 0);
    EXPECT_EQ(make_private_folder(root ? folder : fs::path("/")), FolderOwner::foreign);
}

TEST(HostPrivateFolder, WhatIsNoFolderIsNotThere) {
    const Scratch scratch;
    EXPECT_EQ(make_private_folder(scratch.file("file", "")), FolderOwner::missing);
    EXPECT_EQ(make_private_folder(scratch.path() / "file/below"), FolderOwner::missing);
}

TEST(HostPrivateFolder, ACacheThatIsNotOursIsNone) {
    const Scratch scratch;
    const auto before = os::environment("VKFORMER_CACHE");
    os::set_environment("VKFORMER_CACHE", scratch.path().string());
    ::chmod(scratch.path().c_str(), 0700);
    EXPECT_EQ(private_cache_folder(), scratch.path());
    ::chmod(scratch.path().c_str(), 0777);
    EXPECT_EQ(private_cache_folder(), std::nullopt);
    os::set_environment("VKFORMER_CACHE", before);
}

}  // namespace
}  // namespace vkf
