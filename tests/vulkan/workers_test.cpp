// Threads of a CPU device: a worker on each processor, and the queue's thread on any.
#include "vulkan/cpu/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "device_fixture.h"
#include "vulkan/device/device.h"
#include "vulkan/handles.h"

#ifdef __linux__
#include <sched.h>

namespace vkf::test {
namespace {

/// Processor that a thread is bound to, or -1.
int bound_to(int thread) {
    cpu_set_t allowed;
    if (sched_getaffinity(thread, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != 1) return -1;
    int at = 0;
    while (!CPU_ISSET(at, &allowed)) ++at;
    return at;
}

TEST(DeviceWorkers, HaveAProcessorEach) {
    if (!on_lavapipe()) GTEST_SKIP() << "the device is not Mesa's CPU device";
    const std::vector<int> before = threads();
    ASSERT_FALSE(before.empty());
    const Device device("llvmpipe");
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    const int processors = CPU_COUNT(&allowed);
    if (processors < 2) GTEST_SKIP() << "one processor";
    if (std::getenv("LP_NUM_THREADS")) GTEST_SKIP() << "as many workers as somebody wants";
    if (static_cast<unsigned>(processors) != std::thread::hardware_concurrency()) GTEST_SKIP() << "not all processors";
    std::multiset<int> places;
    for (const int thread : threads())
        if (!std::ranges::binary_search(before, thread) && bound_to(thread) >= 0) places.insert(bound_to(thread));
    EXPECT_EQ(std::ssize(std::set<int>(places.begin(), places.end())), processors);
    EXPECT_EQ(std::ssize(places), processors) << "the queue's thread is where no other process's needs to be";
    const bool permitted = CpuLatencyRequest(cpu_latency_file).valid();
    EXPECT_EQ(device.handles().cpu_latency.valid(), permitted) << "they are all there are, and may stay awake";
}

TEST(DeviceWorkers, StayWhereTheyAreIfTheyAreNotAsManyAsProcessors) {
    const std::vector<int> before = threads();
    const int place = bound_to(before.front());
    std::thread one([] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
    spread_workers(before);
    for (const int thread : threads()) {
        if (!std::ranges::binary_search(before, thread)) {
            EXPECT_EQ(bound_to(thread), place);
        }
    }
    one.join();
}

}  // namespace
}  // namespace vkf::test
#endif
