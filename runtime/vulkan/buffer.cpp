#include "vulkan/buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/os/memory.h"
#include "vulkan/cpu/host_pool.h"
#include "vulkan/handles.h"
#include "vulkan/recorder.h"

namespace vkf {

namespace {

VmaAllocationCreateFlags flags_of(Memory intent, bool cpu) {
    switch (intent) {
        case Memory::upload:
            return VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
        case Memory::readback:
            return VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
        case Memory::device:
            break;
    }
    return cpu ? VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT : 0;  // backed() reads it
}

double mebibytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / (1 << 20);
}

constexpr std::uint64_t staging_bytes = 64u << 20;

}  // namespace

Buffer::Buffer() = default;

Buffer::Buffer(Device& device, std::uint64_t bytes, Memory intent, const std::string& name)
    : device_(&device), bytes_(std::max<std::uint64_t>(bytes, 4)) {
    const DeviceHandles& handles = device.handles();
    if (bytes_ > device.info().max_buffer_bytes)
        throw Error(name, " needs a buffer of ", mebibytes(bytes_), " MiB; this device's largest is ",
                    mebibytes(device.info().max_buffer_bytes), " MiB");
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes_;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VmaAllocationCreateInfo wanted{};
    wanted.usage = VMA_MEMORY_USAGE_AUTO;
    const bool cpu = device.info().kind == DeviceKind::cpu;
    wanted.flags = flags_of(intent, cpu);
    if (intent != Memory::device) wanted.requiredFlags = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkExternalMemoryBufferCreateInfo imported{};
    imported.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    imported.handleTypes = HostPool::handle_type;
    if (cpu && handles.host_memory && intent == Memory::device && bytes_ >= HugePages::page) {
        auto pool = std::make_unique<HostPool>(handles.device, handles.allocator, bytes_);
        wanted.pool = pool->handle();
        if (wanted.pool) {
            info.pNext = &imported;
            pool_ = std::move(pool);
        }
    }
    VkBuffer buffer = VK_NULL_HANDLE;
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo got{};
    VkResult result = vmaCreateBuffer(handles.allocator, &info, &wanted, &buffer, &allocation, &got);
    if (result == VK_SUCCESS &&
        ((intent != Memory::device && !got.pMappedData) || (cpu && !backed(handles.allocator, allocation, bytes_)))) {
        vmaDestroyBuffer(handles.allocator, buffer, allocation);
        result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
        result == VK_ERROR_MEMORY_MAP_FAILED)
        throw Error("not enough device memory for ", name, ": ", mebibytes(bytes_), " MiB wanted, the device has ",
                    mebibytes(device.info().memory_bytes), " MiB in all", memory_limits());
    check(result, "vmaCreateBuffer");
    buffer_ = buffer;
    allocation_ = allocation;
    mapped_ = static_cast<std::byte*>(got.pMappedData);
    VkBufferDeviceAddressInfo where{};
    where.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    where.buffer = buffer;
    address_ = vkGetBufferDeviceAddress(handles.device, &where);
    handles.name(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<std::uint64_t>(buffer), name);
}

Buffer::Buffer(Buffer&& other) noexcept {
    *this = std::move(other);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(buffer_, other.buffer_);
    std::swap(allocation_, other.allocation_);
    std::swap(pool_, other.pool_);
    std::swap(mapped_, other.mapped_);
    std::swap(bytes_, other.bytes_);
    std::swap(address_, other.address_);
    return *this;
}

Buffer::~Buffer() {
    if (!buffer_) return;
    if (device_->handles().hung)
        static_cast<void>(pool_.release());
    else
        vmaDestroyBuffer(device_->handles().allocator, static_cast<VkBuffer>(buffer_),
                         static_cast<VmaAllocation>(allocation_));
}

void Buffer::write(std::uint64_t offset, std::span<const std::byte> data) {
    if (data.empty()) return;
    if (mapped_) {
        device_->wait_idle();
        std::memcpy(mapped_ + offset, data.data(), data.size());
        return;
    }
    Buffer staging(*device_, std::min<std::uint64_t>(data.size(), staging_bytes), Memory::upload, "upload staging");
    for (std::uint64_t done = 0; done < data.size();) {
        const std::uint64_t part = std::min<std::uint64_t>(staging.bytes_, data.size() - done);
        std::memcpy(staging.mapped_, data.data() + done, part);
        Recorder recorder(*device_);
        recorder.copy(staging, 0, *this, offset + done, part);
        wait(*device_, recorder.finish().submit());
        done += part;
    }
}

void Buffer::read(std::uint64_t offset, std::span<std::byte> data) const {
    if (data.empty()) return;
    if (mapped_) {
        device_->wait_idle();
        std::memcpy(data.data(), mapped_ + offset, data.size());
        return;
    }
    Buffer staging(*device_, std::min<std::uint64_t>(data.size(), staging_bytes), Memory::readback, "readback staging");
    for (std::uint64_t done = 0; done < data.size();) {
        const std::uint64_t part = std::min<std::uint64_t>(staging.bytes_, data.size() - done);
        Recorder recorder(*device_);
        recorder.copy(*this, offset + done, staging, 0, part);
        wait(*device_, recorder.finish().submit());
        std::memcpy(data.data() + done, staging.mapped_, part);
        done += part;
    }
}

void Buffer::fill(std::uint32_t word) {
    const std::vector<std::uint32_t> words(std::min<std::uint64_t>(bytes_, staging_bytes) / 4, word);
    for (std::uint64_t done = 0; done < bytes_ / 4 * 4;) {
        const std::uint64_t part = std::min<std::uint64_t>(words.size() * 4, bytes_ - done);
        write(done, std::as_bytes(std::span(words)).first(part));
        done += part;
    }
}

}  // namespace vkf
