#include "vulkan/recorder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "vulkan/buffer.h"
#include "vulkan/handles.h"
#include "vulkan/kernel.h"

namespace vkf {

struct Commands::Impl {
    Device& device;
    std::vector<VkCommandBuffer> segments;
    std::size_t barriers = 0;
    VkQueryPool stamps = VK_NULL_HANDLE;
    std::uint32_t stamped = 0;

    explicit Impl(Device& owner) : device(owner) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        DeviceHandles& handles = device.handles();
        vkDeviceWaitIdle(handles.device);
        if (!segments.empty())
            vkFreeCommandBuffers(handles.device, handles.commands, static_cast<std::uint32_t>(segments.size()),
                                 segments.data());
        vkDestroyQueryPool(handles.device, stamps, nullptr);
    }
};

namespace {

VkCommandBuffer as_commands(void* handle) {
    return static_cast<VkCommandBuffer>(handle);
}

constexpr VkPipelineStageFlags2 stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT;
constexpr VkAccessFlags2 writes = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags2 reads = VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;

void global_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 to_stage, VkAccessFlags2 to_access) {
    VkMemoryBarrier2 memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    memory.srcStageMask = stages;
    memory.srcAccessMask = writes;
    memory.dstStageMask = to_stage;
    memory.dstAccessMask = to_access;
    VkDependencyInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    info.memoryBarrierCount = 1;
    info.pMemoryBarriers = &memory;
    vkCmdPipelineBarrier2(commands, &info);
}

VkCommandBuffer begin(Device& device) {
    const DeviceHandles& handles = device.handles();
    VkCommandBufferAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = handles.commands;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vkAllocateCommandBuffers(handles.device, &allocate, &commands), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
    // Whatever was submitted before, this segment sees its writes: one barrier where segments or runs meet.
    global_barrier(commands, stages, reads | writes);
    return commands;
}

}  // namespace

// --- Commands ------------------------------------------------------------------------------------

Commands::Commands() noexcept = default;
Commands::Commands(Commands&&) noexcept = default;
Commands& Commands::operator=(Commands&&) noexcept = default;
Commands::~Commands() = default;

std::size_t Commands::segments() const {
    return impl_->segments.size();
}
std::size_t Commands::barriers() const {
    return impl_->barriers;
}

std::uint64_t Commands::submit() {
    return submit({}, {});
}

std::uint64_t Commands::submit(const Commands& before, const Commands& after) {
    DeviceHandles& handles = impl_->device.handles();
    std::vector<VkCommandBufferSubmitInfo> buffers;
    const auto add = [&](const std::vector<VkCommandBuffer>& list) {
        for (const VkCommandBuffer buffer : list) {
            buffers.push_back({});
            buffers.back().sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
            buffers.back().commandBuffer = buffer;
        }
    };
    if (before.impl_) add(before.impl_->segments);
    for (const VkCommandBuffer& segment : impl_->segments) {
        add({segment});
        if (&segment == &impl_->segments.back() && after.impl_) add(after.impl_->segments);
        VkSemaphoreSubmitInfo signal{};
        signal.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
        signal.semaphore = handles.timeline;
        signal.value = ++handles.submitted;
        signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
        VkSubmitInfo2 info{};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
        info.commandBufferInfoCount = static_cast<std::uint32_t>(buffers.size());
        info.pCommandBufferInfos = buffers.data();
        info.signalSemaphoreInfoCount = 1;
        info.pSignalSemaphoreInfos = &signal;
        check(vkQueueSubmit2(handles.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit2");
        buffers.clear();
    }
    return handles.submitted;
}

std::vector<double> Commands::stamps_ms() const {
    std::vector<double> spans;
    if (impl_->stamped < 2) return spans;
    std::vector<std::uint64_t> ticks(impl_->stamped);
    check(vkGetQueryPoolResults(impl_->device.handles().device, impl_->stamps, 0, impl_->stamped,
                                ticks.size() * sizeof(std::uint64_t), ticks.data(), sizeof(std::uint64_t),
                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    const double ms_per_tick = impl_->device.info().timestamp_ns * 1e-6;
    for (std::size_t i = 1; i < ticks.size(); ++i)
        spans.push_back(static_cast<double>(ticks[i] - ticks[i - 1]) * ms_per_tick);
    return spans;
}

void wait(Device& device, std::uint64_t ticket) {
    const DeviceHandles& handles = device.handles();
    VkSemaphoreWaitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    info.semaphoreCount = 1;
    info.pSemaphores = &handles.timeline;
    info.pValues = &ticket;
    check(vkWaitSemaphores(handles.device, &info, UINT64_MAX), "vkWaitSemaphores");
}

// --- Recorder ------------------------------------------------------------------------------------

Recorder::Recorder(Device& device, std::size_t stamps_wanted)
    : device_(device), impl_(std::make_unique<Commands::Impl>(device)) {
    if (stamps_wanted > 0) {
        if (device.info().timestamp_ns == 0) throw Error(device.info().name, " cannot take timestamps");
        VkQueryPoolCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        info.queryType = VK_QUERY_TYPE_TIMESTAMP;
        info.queryCount = static_cast<std::uint32_t>(stamps_wanted);
        check(vkCreateQueryPool(device.handles().device, &info, nullptr, &impl_->stamps), "vkCreateQueryPool");
    }
    current_ = begin(device);
    impl_->segments.push_back(as_commands(current_));
    if (stamps_wanted > 0)
        vkCmdResetQueryPool(as_commands(current_), impl_->stamps, 0, static_cast<std::uint32_t>(stamps_wanted));
}

Recorder::~Recorder() = default;

void Recorder::guard(std::span<const Access> accesses) {
    if (hazards_.conflict(accesses)) {
        global_barrier(as_commands(current_), stages, reads | writes);
        ++impl_->barriers;
        hazards_.clear();
    }
    hazards_.note(accesses);
}

void Recorder::dispatch(const Kernel& kernel, std::span<const std::byte> push, std::uint64_t groups,
                        std::span<const Access> accesses) {
    constexpr std::uint64_t fold = 65535;  // every device allows this many workgroups along x and y
    if (groups == 0) return;
    if (groups > fold * fold) throw Error("kernel ", kernel.name, " wants ", groups, " workgroups in one launch");
    guard(accesses);
    const VkCommandBuffer commands = as_commands(current_);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, static_cast<VkPipeline>(kernel.pipeline));
    if (!push.empty())
        vkCmdPushConstants(commands, device_.handles().layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<std::uint32_t>(push.size()), push.data());
    const std::uint64_t x = std::min(groups, fold);
    vkCmdDispatch(commands, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>((groups + x - 1) / x), 1);
}

void Recorder::copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
                    std::uint64_t bytes) {
    const std::array accesses{
        Access{from.address() + from_offset, from.address() + from_offset + bytes, false},
        Access{to.address() + to_offset, to.address() + to_offset + bytes, true},
    };
    guard(accesses);
    const VkBufferCopy region{from_offset, to_offset, bytes};
    vkCmdCopyBuffer(as_commands(current_), static_cast<VkBuffer>(from.handle()), static_cast<VkBuffer>(to.handle()), 1,
                    &region);
}

void Recorder::cut() {
    check(vkEndCommandBuffer(as_commands(current_)), "vkEndCommandBuffer");
    current_ = begin(device_);
    impl_->segments.push_back(as_commands(current_));
    hazards_.clear();  // a segment begins with a barrier
}

void Recorder::stamp() {
    global_barrier(as_commands(current_), stages, reads | writes);
    hazards_.clear();
    vkCmdWriteTimestamp2(as_commands(current_), VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, impl_->stamps, impl_->stamped++);
}

Commands Recorder::finish() {
    global_barrier(as_commands(current_), VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    check(vkEndCommandBuffer(as_commands(current_)), "vkEndCommandBuffer");
    Commands made;
    made.impl_ = std::move(impl_);
    return made;
}

}  // namespace vkf
