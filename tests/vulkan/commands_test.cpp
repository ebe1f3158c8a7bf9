// Command buffers hold all recorded commands, with complete barriers: checked by the calls of Vulkan.

#include "vulkan/commands.h"

#include <gtest/gtest.h>
#include <volk.h>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "vulkan/buffer.h"
#include "vulkan/kernel/kernel.h"
#include "vulkan/recorder.h"
#include "vulkan/shuffled.h"

namespace vkf::test {
namespace {

/// Replaces a function of Vulkan while this object lives.
template <class Function>
class Replaced {
public:
    Replaced(Function& entry, Function by) : entry_(entry), original_(entry) { entry = by; }
    Replaced(const Replaced&) = delete;
    ~Replaced() { entry_ = original_; }
    Function original() const { return original_; }

private:
    Function& entry_;
    Function original_;
};

using Lines = std::vector<std::string>;

std::map<VkCommandBuffer, Lines> told;    // calls per command buffer, since it was begun
std::vector<Lines> submitted;             // calls submitted to the queue, per submission
PFN_vkBeginCommandBuffer begin_truly = nullptr;
PFN_vkQueueSubmit2 submit_truly = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
    told[commands].clear();
    return begin_truly(commands, info);
}

VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, const VkDependencyInfo* info) {
    constexpr VkPipelineStageFlags2 work =
        VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT;
    constexpr VkAccessFlags2 writes = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
    constexpr VkAccessFlags2 reads = VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;
    const auto contains = [](std::uint64_t mask, std::uint64_t wanted) { return (mask & wanted) == wanted; };
    std::string& line = told[commands].emplace_back("weak barrier");
    if (info->memoryBarrierCount != 1) return;
    const VkMemoryBarrier2& memory = *info->pMemoryBarriers;
    if (!contains(memory.srcStageMask, work) || !contains(memory.srcAccessMask, writes)) return;
    if (contains(memory.dstStageMask, work) && contains(memory.dstAccessMask, reads | writes)) line = "barrier";
    if (contains(memory.dstStageMask, VK_PIPELINE_STAGE_2_HOST_BIT) &&
        contains(memory.dstAccessMask, VK_ACCESS_2_HOST_READ_BIT))
        line = "barrier to host";
}

VKAPI_ATTR void VKAPI_CALL bind(VkCommandBuffer commands, VkPipelineBindPoint, VkPipeline pipeline) {
    told[commands].push_back(text("bind ", reinterpret_cast<std::uintptr_t>(pipeline)));
}

VKAPI_ATTR void VKAPI_CALL bind_shaders(VkCommandBuffer commands, std::uint32_t, const VkShaderStageFlagBits*,
                                        const VkShaderEXT* shaders) {
    told[commands].push_back(text("bind ", reinterpret_cast<std::uintptr_t>(*shaders)));
}

VKAPI_ATTR void VKAPI_CALL push(VkCommandBuffer commands, VkPipelineLayout, VkShaderStageFlags, std::uint32_t offset,
                                std::uint32_t size, const void* values) {
    std::string line = text("push from ", offset, ':');
    for (std::uint32_t i = 0; i < size; ++i) line += text(' ', int{static_cast<const unsigned char*>(values)[i]});
    told[commands].push_back(line);
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    told[commands].push_back(text("dispatch ", x, ' ', y, ' ', z));
}

VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, std::uint32_t count,
                                const VkBufferCopy* regions) {
    std::string line = text("copy from ", reinterpret_cast<std::uintptr_t>(from), " to ",
                            reinterpret_cast<std::uintptr_t>(to), ':');
    for (std::uint32_t i = 0; i < count; ++i)
        line += text(' ', regions[i].srcOffset, ' ', regions[i].dstOffset, ' ', regions[i].size);
    told[commands].push_back(line);
}

VKAPI_ATTR void VKAPI_CALL stamp(VkCommandBuffer commands, VkPipelineStageFlags2, VkQueryPool, std::uint32_t query) {
    told[commands].push_back(text("stamp ", query));
}

VKAPI_ATTR void VKAPI_CALL reset(VkCommandBuffer commands, VkQueryPool, std::uint32_t first, std::uint32_t count) {
    told[commands].push_back(text("reset ", first, ' ', count));
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo2* infos, VkFence fence) {
    for (std::uint32_t i = 0; i < count; ++i) {
        Lines& lines = submitted.emplace_back();
        for (std::uint32_t k = 0; k < infos[i].commandBufferInfoCount; ++k) {
            const Lines& more = told[infos[i].pCommandBufferInfos[k].commandBuffer];
            lines.insert(lines.end(), more.begin(), more.end());
        }
    }
    return submit_truly(queue, count, infos, fence);
}

/// Records calls in Vulkan's place: command buffers stay empty, so kernels and buffers may be plain numbers.
class Listening {
public:
    Listening() {
        told.clear();
        submitted.clear();
        begin_truly = begin_.original();
        submit_truly = submit_.original();
    }

private:
    Replaced<PFN_vkBeginCommandBuffer> begin_{vkBeginCommandBuffer, begin};
    Replaced<PFN_vkCmdPipelineBarrier2> barrier_{vkCmdPipelineBarrier2, barrier};
    Replaced<PFN_vkCmdBindPipeline> bind_{vkCmdBindPipeline, bind};
    Replaced<PFN_vkCmdBindShadersEXT> bind_shaders_{vkCmdBindShadersEXT, bind_shaders};
    Replaced<PFN_vkCmdPushConstants> push_{vkCmdPushConstants, push};
    Replaced<PFN_vkCmdDispatch> dispatch_{vkCmdDispatch, dispatch};
    Replaced<PFN_vkCmdCopyBuffer> copy_{vkCmdCopyBuffer, copy};
    Replaced<PFN_vkCmdWriteTimestamp2> stamp_{vkCmdWriteTimestamp2, stamp};
    Replaced<PFN_vkCmdResetQueryPool> reset_{vkCmdResetQueryPool, reset};
    Replaced<PFN_vkQueueSubmit2> submit_{vkQueueSubmit2, submit};
};

template <class Handle>
Handle numbered(std::uintptr_t number) {
    return reinterpret_cast<Handle>(number);
}

Command launch(const Kernel& kernel, std::uint32_t x, std::vector<Access> accesses = {}) {
    return {KernelLaunch{&kernel, {std::byte{4}, std::byte{2}}, x, 1}, std::move(accesses)};
}

TEST(DeviceCommands, WriteABarrierWhereverTwoPhasesMeet) {
    shared_device();  // loads Vulkan's functions
    const Listening listening;
    const Kernel kernel{.name = "k", .handle = numbered<void*>(7)};
    Recording recording, inputs, outputs;
    recording.add(launch(kernel, 1, {{0, 4, true}}));
    recording.add(launch(kernel, 2, {{4, 8, true}}));
    recording.add(launch(kernel, 3, {{0, 4, false}}));
    recording.cut();
    recording.add({BufferCopy{numbered<void*>(11), 1, numbered<void*>(12), 2, 3}, {{1, 4, false}, {9, 12, true}}});
    recording.add({KernelLaunch{&kernel, {}, 4, 5}, {{9, 10, true}}});
    inputs.add(launch(kernel, 8));
    outputs.add(launch(kernel, 9));
    const Commands before(shared_device(), inputs), made(shared_device(), recording), after(shared_device(), outputs);
    wait(shared_device(), vkf::submit(shared_device(), std::array{&before, &made, &after}));
    const Lines first{"barrier", "bind 7", "push from 0: 4 2", "dispatch 8 1 1", "barrier to host",  // inputs
                      "barrier", "bind 7", "push from 0: 4 2", "dispatch 1 1 1",
                      "bind 7", "push from 0: 4 2", "dispatch 2 1 1",
                      "barrier", "bind 7", "push from 0: 4 2", "dispatch 3 1 1", "barrier to host"};
    const Lines last{"barrier", "copy from 11 to 12: 1 2 3",
                     "barrier", "bind 7", "dispatch 4 5 1", "barrier to host",
                     "barrier", "bind 7", "push from 0: 4 2", "dispatch 9 1 1", "barrier to host"};  // outputs
    EXPECT_EQ(submitted, (std::vector{first, last}));
}

TEST(DeviceCommands, TakeTheTimeAfterABarrier) {
    if (shared_device().info().timestamp_ns == 0) GTEST_SKIP() << "the device has no timestamps";
    const Listening listening;
    const Kernel kernel{.name = "k", .handle = numbered<void*>(7)};
    Recording recording;
    recording.stamp();
    recording.add({KernelLaunch{&kernel, {}, 1, 1}, {}});
    recording.cut();
    recording.add({KernelLaunch{&kernel, {}, 2, 1}, {}});
    recording.stamp();
    wait(shared_device(), Commands(shared_device(), recording).submit());
    const Lines first{"reset 0 2", "barrier", "barrier", "stamp 0", "bind 7", "dispatch 1 1 1", "barrier to host"};
    const Lines last{"barrier", "bind 7", "dispatch 2 1 1", "barrier", "stamp 1", "barrier to host"};
    EXPECT_EQ(submitted, (std::vector{first, last}));
}

TEST(DeviceRecorder, StatesTheMemoryThatCopiesAndKernelsTouch) {
    const Buffer a(shared_device(), 64, Memory::device, "a"), b(shared_device(), 64, Memory::device, "b");
    const Kernel kernel{.name = "k", .handle = nullptr};
    Recorder recorder(shared_device());
    recorder.copy(a, 8, b, 16, 4);
    recorder.copy(a, 0, b, 20, 4);
    recorder.copy(b, 16, a, 32, 4);
    const Commands made = recorder.finish();
    const Segment& segment = made.recording().segments.at(0);
    ASSERT_EQ(segment.size(), 2U);
    ASSERT_EQ(segment[0].commands.size(), 2U);
    const std::vector<Access>& found = segment[1].commands.at(0).accesses;
    ASSERT_EQ(found.size(), 2U);
    const auto same = [](const Access& at, const Buffer& of, std::uint64_t first, std::uint64_t end, bool writes) {
        return at.begin == of.address() + first && at.end == of.address() + end && at.writes == writes;
    };
    EXPECT_TRUE(same(found[0], b, 16, 20, false));
    EXPECT_TRUE(same(found[1], a, 32, 36, true));
}

TEST(DeviceRecorder, RefusesAnOrderThatIsNoNumber) {
    for (const char* seed : {"", "one", "-1", "1x", "99999999999999999999"}) {
        const Shuffled order(seed);
        EXPECT_THROW(Recorder(shared_device()).finish(), InputError) << seed;
    }
    const Shuffled order("18446744073709551615");
    Recorder(shared_device()).finish();
}

}  // namespace
}  // namespace vkf::test
