// Times at which a CPU device's processors are kept awake: checked by the content of the request's file.
#include "vulkan/cpu/cpu_latency.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <vector>

#include "device_fixture.h"
#include "scratch.h"
#include "vulkan/commands.h"
#include "vulkan/handles.h"
#include "vulkan/recorder.h"

namespace vkf::test {
namespace {

using Microseconds = std::vector<std::int32_t>;
constexpr std::int32_t awake = 0, as_it_likes = 2'000'000'000;

/// A request to a file of the test, and the latencies written to it.
struct Asked {
    Scratch scratch;
    std::filesystem::path file = scratch.file("latency", "");
    CpuLatencyRequest request{file};

    Microseconds all() const {
        std::ifstream in(file, std::ios::binary);
        Microseconds list;
        for (std::int32_t each = 0; in.read(reinterpret_cast<char*>(&each), sizeof each);) list.push_back(each);
        return list;
    }
};

TEST(HostCpuLatency, IsAskedForOnceAndGivenBackOnce) {
    Asked asked;
    ASSERT_TRUE(asked.request.valid());
    asked.request.release();
    EXPECT_EQ(asked.all(), Microseconds{});
    asked.request.hold();
    asked.request.hold();
    EXPECT_EQ(asked.all(), Microseconds{awake});
    asked.request.release();
    asked.request.release();
    EXPECT_EQ(asked.all(), (Microseconds{awake, as_it_likes}));
}

TEST(HostCpuLatency, DoesNothingWhereItMayNotBeAskedFor) {
    const Scratch scratch;
    CpuLatencyRequest refused(scratch.path() / "nowhere"), none;
    for (CpuLatencyRequest* request : {&refused, &none}) {
        EXPECT_FALSE(request->valid());
        request->hold();
        request->release();
    }
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / "nowhere"));
}

TEST(DeviceCpuLatency, ProcessorsStayAwakeFromASubmissionUntilTheLastIsWaitedFor) {
    if (!on_lavapipe()) GTEST_SKIP() << "the device is not Mesa's CPU device";
    Device device("llvmpipe");
    Asked asked;
    device.handles().cpu_latency = std::move(asked.request);
    Commands first = Recorder(device).finish(), second = Recorder(device).finish();
    const std::uint64_t one = first.submit(), two = second.submit();
    EXPECT_EQ(asked.all(), Microseconds{awake});
    wait(device, one);
    EXPECT_EQ(asked.all(), Microseconds{awake});
    wait(device, two);
    EXPECT_EQ(asked.all(), (Microseconds{awake, as_it_likes}));
    wait(device, first.submit());
    EXPECT_EQ(asked.all(), (Microseconds{awake, as_it_likes, awake, as_it_likes}));
    second.submit();
    device.wait_idle();
    EXPECT_EQ(asked.all(), (Microseconds{awake, as_it_likes, awake, as_it_likes, awake, as_it_likes}));
}

}  // namespace
}  // namespace vkf::test
