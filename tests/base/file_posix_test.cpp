// Files on POSIX systems: devices, links, permissions and limits.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "base/files/file.h"
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

// Limits the size of files while the object lives, to simulate a full disk.
class SmallDisk {
public:
    explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit small = before_;
        small.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_ = {};
    void (*handler_)(int);
};

// Gives up root's rights while the object lives, if the system allows it.
class Nobody {
public:
    Nobody() : before_(::geteuid()) { changed_ = before_ == 0 && ::seteuid(65534) == 0; }
    Nobody(const Nobody&) = delete;
    Nobody& operator=(const Nobody&) = delete;
    ~Nobody() {
        if (changed_ && ::seteuid(before_) != 0) std::abort();
    }

private:
    uid_t before_;
    bool changed_;
};

TEST(HostFile, AtomicWriteFollowsASymbolicLink) {
    const Scratch scratch;
    const fs::path path = scratch.file("there/model", "old"), link = scratch.path() / "model";
    fs::create_symlink(path, link);
    write_atomically(link, "new");
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_text(path), "new");
}

TEST(HostFile, AFullDiskLeavesTheOldFile) {
    const Scratch scratch;
    const fs::path path = scratch.file("model", "old");
    const std::string big(5000, 'x');
    std::string message;
    {
        const SmallDisk disk(4096);
        message = complaint<Error>([&] { write_atomically(path, big); });
    }
    expect_holds(message, path.string());
    expect_holds(message, "File too large");
    EXPECT_EQ(read_text(path), "old");
    EXPECT_EQ(files_in(scratch.path()), 1u);
}

TEST(HostFile, ADeviceIsWrittenDirectlyAndItsRefusalReported) {
    expect_holds(complaint([&] { MappedFile{"/dev/null"}; }), "not a regular file");
    write_atomically("/dev/null", "gone");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full";
    const auto message = complaint<Error>([] { write_atomically("/dev/full", "x"); });
    expect_holds(message, "/dev/full");
    expect_holds(message, "No space left");
}

TEST(HostFile, AFileIsNoDirectory) {
    const Scratch scratch;
    const fs::path path = scratch.file("plain", "") / "model";
    const std::string message = complaint<Error>([&] { write_atomically(path, "x"); });
    expect_holds(message, path.string());
    expect_holds(message, "Not a directory");
}

TEST(HostFile, AReadOnlyDirectoryKeepsItsFile) {
    const Scratch scratch;
    const fs::path path = scratch.file("locked/model", "old");
    const auto locked = fs::perms(0555);
    fs::permissions(path.parent_path(), locked);
    std::string message;
    {
        const Nobody nobody;
        if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
        message = complaint<Error>([&] { write_atomically(path, "new"); });
    }
    fs::permissions(path.parent_path(), fs::perms::owner_all);
    expect_holds(message, path.string());
    expect_holds(message, "Permission denied");
    EXPECT_EQ(read_text(path), "old");
    EXPECT_EQ(files_in(path.parent_path()), 1u);
}

}  // namespace
}  // namespace vkf
