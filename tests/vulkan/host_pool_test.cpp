// Large buffers of a CPU device are in memory for which huge pages were requested.
#include "vulkan/cpu/host_pool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "vulkan/buffer.h"
#include "vulkan/device/device.h"

#ifdef __linux__

namespace vkf::test {
namespace {

constexpr std::uint64_t page = HugePages::page;

struct Mapped {
    std::uint64_t bytes = 0, resident = 0;
};

/// Mappings of this process for which huge pages were requested ("hg" in the system kernel's notation).
Mapped asked_for() {
    std::ifstream file("/proc/self/smaps");
    Mapped sum;
    std::uint64_t kib = 0, resident_kib = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "Size:") words >> kib;
        if (key == "Rss:") words >> resident_kib;
        if (key != "VmFlags:") continue;
        for (std::string flag; words >> flag;) {
            if (flag != "hg") continue;
            sum.bytes += kib * 1024;
            sum.resident += resident_kib * 1024;
        }
    }
    return sum;
}

bool system_has_them() {
    return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
}

TEST(HostHugePages, BeginAtAPageAndAreZero) {
    if (!system_has_them()) GTEST_SKIP() << "Linux without huge pages";
    const std::uint64_t before = asked_for().bytes;
    {
        const HugePages pages(3 * page + 4096);
        const auto* bytes = static_cast<const char*>(pages.data());
        ASSERT_NE(bytes, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % page, 0u);
        EXPECT_EQ(std::accumulate(bytes, bytes + 3 * page + 4096, 0), 0);
        EXPECT_EQ(asked_for().bytes - before, 3 * page + 4096);
    }
    EXPECT_EQ(asked_for().bytes, before);
    EXPECT_EQ(HugePages(std::size_t{1} << 60).data(), nullptr);
}

TEST(DeviceHostPool, HoldsLargeBuffersOfACpuDevice) {
    if (!system_has_them()) GTEST_SKIP() << "Linux without huge pages";
    if (!on_lavapipe()) GTEST_SKIP() << "the device is not Mesa's CPU device";
    Device device("llvmpipe");
    const Mapped before = asked_for();
    const std::uint64_t allocated = device.allocated_bytes();
    {
        Buffer small(device, page - 4, Memory::device, "small");
        EXPECT_EQ(asked_for().bytes, before.bytes);
        Buffer large(device, 2 * page + 12, Memory::device, "large");
        EXPECT_GE(device.allocated_bytes(), allocated + small.bytes() + large.bytes());
        std::vector<std::byte> written(large.bytes()), read(large.bytes());
        for (std::size_t i = 0; i < written.size(); ++i) written[i] = static_cast<std::byte>(i * 7 + (i >> 12));
        large.write(0, written);
        EXPECT_GE(asked_for().resident, before.resident + large.bytes()) << "it lies there";
        Buffer moved = std::move(large);
        moved.read(0, read);
        EXPECT_TRUE(written == read);
    }
    EXPECT_EQ(asked_for().bytes, before.bytes);
    EXPECT_EQ(device.allocated_bytes(), allocated);
}

}  // namespace
}  // namespace vkf::test
#endif
