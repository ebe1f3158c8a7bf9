#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fstream>
#include <vector>

#include "base/os/control_groups.h"
#include "base/os/memory.h"
#include "base/os/os.h"
#include "scratch.h"

namespace vkf::test {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

TEST(HostMemory, ALimitOfAddressSpaceLeavesWhatIsNotTaken) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    rlimit tight = before;
    tight.rlim_cur = std::min<rlim_t>(std::uint64_t{1} << 46, before.rlim_max);
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
    const std::uint64_t first = free_address_space();
    void* taken = ::mmap(nullptr, 64 * mebibyte, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const std::uint64_t second = free_address_space();
    const std::string words = memory_limits();
    ::munmap(taken, 64 * mebibyte);
    ::setrlimit(RLIMIT_AS, &before);
    EXPECT_LT(first, tight.rlim_cur);
    EXPECT_EQ(first - second, 64 * mebibyte);
    EXPECT_NE(words.find("; ulimit -v is " + std::to_string(tight.rlim_cur / 1024) + " KiB"), std::string::npos);
    EXPECT_LE(free_memory(), free_address_space());
    EXPECT_GT(free_memory(), 0u);
}

TEST(HostMemory, GroupsLeaveWhatTheTightestDoes) {
    const Scratch scratch;
    const auto put = [&](const std::string& file, const std::string& content) {
        std::filesystem::create_directories((scratch.path() / file).parent_path());
        std::ofstream(scratch.path() / file) << content;
    };
    const auto left = [&](const std::string& self) {
        put("self", self);
        return free_in_groups(scratch.path() / "self", scratch.path());
    };
    const std::uint64_t none = left("");
    put("a/memory.max", "1000");
    put("a/memory.current", "700");
    put("a/memory.stat", "anon 600\ninactive_file 50\nactive_file 20\n");
    put("a/b/memory.max", "max");
    put("a/b/memory.current", "600");
    EXPECT_EQ(left("0::/a/b\n"), 350u);
    EXPECT_EQ(left("0::/elsewhere\n"), none);
    put("memory.max", "2000");  // as inside a container
    put("memory.current", "2100");
    EXPECT_EQ(left("0::/elsewhere\n"), 0u);
    put("memory/c/memory.limit_in_bytes", "5000");
    put("memory/c/memory.usage_in_bytes", "4000");
    put("memory/c/memory.stat", "cache 9\ntotal_inactive_file 500\n");
    EXPECT_EQ(left("9:name=systemd:/a\n4:memory:/c\n"), 1500u);
}

TEST(HostMemory, TellsWhatCannotBeTouched) {
    const std::byte here{1};
    EXPECT_TRUE(readable(&here));
    EXPECT_FALSE(readable(nullptr));
    const Scratch scratch;
    std::ofstream(scratch.path() / "file") << "short";
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const int file = ::open((scratch.path() / "file").c_str(), O_RDONLY);
    void* mapped = ::mmap(nullptr, 2 * page, PROT_READ, MAP_SHARED, file, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_TRUE(readable(static_cast<const std::byte*>(mapped)));
    EXPECT_FALSE(readable(static_cast<const std::byte*>(mapped) + page));
    ::munmap(mapped, 2 * page);
    ::close(file);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
TEST(HostMemory, LargeBlocksAreMappingsOfTheirOwnAlsoAfterLargerOnesWereFreed) {
    os::prepare_process();
    std::vector<char>(16 * mebibyte);  // freed at once, after which glibc would raise its mmap threshold by default
    const std::size_t before = ::mallinfo2().hblkhd;
    const std::vector<char> block(4 * mebibyte);
    EXPECT_GE(::mallinfo2().hblkhd, before + block.size()) << "what is freed of a heap may be kept";
}
#endif

}  // namespace
}  // namespace vkf::test
