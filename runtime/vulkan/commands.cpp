#include "vulkan/commands.h"

#include <utility>
#include <variant>

#include "base/error.h"
#include "vulkan/handles.h"
#include "vulkan/kernel/kernel.h"
#include "vulkan/recording.h"

namespace vkf {

struct Commands::Impl {
    Device& device;
    Recording recording;
    std::vector<VkCommandBuffer> segments;
    VkQueryPool stamps = VK_NULL_HANDLE;

    Impl(Device& owner, Recording recorded) : device(owner), recording(std::move(recorded)) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        DeviceHandles& handles = device.handles();
        try {
            device.wait_idle();
        } catch (const Error&) {
            if (handles.hung) return;  // all objects of a lost device may be freed
        }
        if (!segments.empty())
            vkFreeCommandBuffers(handles.device, handles.commands, static_cast<std::uint32_t>(segments.size()),
                                 segments.data());
        vkDestroyQueryPool(handles.device, stamps, nullptr);
    }
};

// --- Writing -------------------------------------------------------------------------------------

namespace {

/// Makes writes of kernels and copies visible to later accesses of the given kind.
void barrier(VkCommandBuffer commands, VkPipelineStageFlags2 to_stage, VkAccessFlags2 to_access) {
    VkMemoryBarrier2 memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    memory.srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT;
    memory.srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
    memory.dstStageMask = to_stage;
    memory.dstAccessMask = to_access;
    VkDependencyInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    info.memoryBarrierCount = 1;
    info.pMemoryBarriers = &memory;
    vkCmdPipelineBarrier2(commands, &info);
}

void barrier_to_next_phase(VkCommandBuffer commands) {
    barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_READ_BIT |
                VK_ACCESS_2_TRANSFER_WRITE_BIT);
}

void barrier_to_host(VkCommandBuffer commands) {
    barrier(commands, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
}

void write(VkCommandBuffer commands, const DeviceHandles& handles, const KernelLaunch& launch) {
    constexpr VkShaderStageFlagBits stage = VK_SHADER_STAGE_COMPUTE_BIT;
    if (handles.shader_objects) {
        const auto shader = static_cast<VkShaderEXT>(launch.kernel->handle);
        vkCmdBindShadersEXT(commands, 1, &stage, &shader);
    } else {
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, static_cast<VkPipeline>(launch.kernel->handle));
    }
    if (!launch.push.empty())
        vkCmdPushConstants(commands, handles.layout, stage, 0, static_cast<std::uint32_t>(launch.push.size()),
                           launch.push.data());
    vkCmdDispatch(commands, launch.x, launch.y, 1);
}

void write(VkCommandBuffer commands, const DeviceHandles&, const BufferCopy& copy) {
    const VkBufferCopy region{copy.from_offset, copy.to_offset, copy.bytes};
    vkCmdCopyBuffer(commands, static_cast<VkBuffer>(copy.from), static_cast<VkBuffer>(copy.to), 1, &region);
}

VkCommandBuffer begin(const DeviceHandles& handles) {
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
    return commands;
}

VkQueryPool make_stamps(const Device& device, std::uint32_t count) {
    if (device.info().timestamp_ns == 0) throw Error(device.info().name, " cannot take timestamps");
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = count;
    VkQueryPool stamps = VK_NULL_HANDLE;
    check(vkCreateQueryPool(device.handles().device, &info, nullptr, &stamps), "vkCreateQueryPool");
    return stamps;
}

}  // namespace

Commands::Commands(Device& device, Recording recording) : impl_(std::make_unique<Impl>(device, std::move(recording))) {
    const DeviceHandles& handles = device.handles();
    const auto stamps = static_cast<std::uint32_t>(impl_->recording.stamps());
    if (stamps > 0) impl_->stamps = make_stamps(device, stamps);
    std::uint32_t stamped = 0;
    for (const Segment& segment : impl_->recording.segments) {
        const VkCommandBuffer commands = impl_->segments.emplace_back(begin(handles));
        if (stamps > 0 && impl_->segments.size() == 1) vkCmdResetQueryPool(commands, impl_->stamps, 0, stamps);
        for (const Phase& phase : segment) {
            barrier_to_next_phase(commands);
            if (phase.stamped)
                vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, impl_->stamps, stamped++);
            for (const Command& command : phase.commands)
                std::visit([&](const auto& what) { write(commands, handles, what); }, command.what);
        }
        barrier_to_host(commands);
        check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    }
}

Commands::Commands() noexcept = default;
Commands::Commands(Commands&&) noexcept = default;
Commands& Commands::operator=(Commands&&) noexcept = default;
Commands::~Commands() = default;

const Recording& Commands::recording() const {
    return impl_->recording;
}

// --- Running -------------------------------------------------------------------------------------

std::uint64_t Commands::submit() {
    const Commands* self = this;
    return vkf::submit(impl_->device, std::span(&self, 1));
}

std::uint64_t submit(Device& device, std::span<const Commands* const> list, std::size_t joined) {
    DeviceHandles& handles = device.handles();
    handles.cpu_latency.hold();
    std::vector<VkCommandBufferSubmitInfo> buffers;
    std::size_t ended = 0;  // segments in `buffers` that are followed by one of the same Commands
    const auto submit_buffers = [&] {
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
        check(handles, vkQueueSubmit2(handles.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit2");
        buffers.clear();
        ended = 0;
    };
    for (const Commands* commands : list)
        for (const VkCommandBuffer& segment : commands->impl_->segments) {
            if (&segment != &commands->impl_->segments.front() && ++ended >= joined) submit_buffers();
            buffers.push_back({});
            buffers.back().sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
            buffers.back().commandBuffer = segment;
        }
    submit_buffers();
    return handles.submitted;
}

std::vector<double> Commands::stamps_ms() const {
    std::vector<double> spans;
    std::vector<std::uint64_t> ticks(impl_->recording.stamps());
    if (ticks.size() < 2) return spans;
    check(impl_->device.handles(),
          vkGetQueryPoolResults(impl_->device.handles().device, impl_->stamps, 0,
                                static_cast<std::uint32_t>(ticks.size()), ticks.size() * sizeof(std::uint64_t),
                                ticks.data(), sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    const double ms_per_tick = impl_->device.info().timestamp_ns * 1e-6;
    for (std::size_t i = 1; i < ticks.size(); ++i)
        spans.push_back(static_cast<double>(ticks[i] - ticks[i - 1]) * ms_per_tick);
    return spans;
}

void wait(const Device& device, std::uint64_t ticket) {
    DeviceHandles& handles = device.handles();
    VkSemaphoreWaitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    info.semaphoreCount = 1;
    info.pSemaphores = &handles.timeline;
    info.pValues = &ticket;
    const auto hang = [&] {
        return DeviceHang(device.info().name, " hangs: a submission has not ended in ",
                          std::chrono::duration<double>(handles.patience).count(), " s");
    };
    if (handles.hung) throw hang();
    const auto patience = static_cast<std::uint64_t>(handles.patience.count());
    const auto reached = [&] {
        std::uint64_t value = 0;
        check(handles, vkGetSemaphoreCounterValue(handles.device, handles.timeline, &value),
              "vkGetSemaphoreCounterValue");
        return value;
    };
    for (std::uint64_t before = reached(), now = before; now < ticket; before = now) {
        const VkResult result = vkWaitSemaphores(handles.device, &info, patience);
        if (result != VK_TIMEOUT) {
            check(handles, result, "vkWaitSemaphores");
            break;
        }
        now = reached();
        handles.hung |= now == before;
        if (handles.hung) throw hang();
    }
    if (ticket == handles.submitted) handles.cpu_latency.release();
}

}  // namespace vkf
