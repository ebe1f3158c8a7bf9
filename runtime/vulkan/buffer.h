// Device memory by intended use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace vkf {

class Device;
class HostPool;

enum class Memory : std::uint8_t {
    device,    // accessed by kernels and copies only
    upload,    // written by the host, read by kernels
    readback,  // written by copies or kernels, read by the host
};

/// A buffer with a device address. Move-only. Throws Error naming the buffer if there is not enough memory.
class Buffer {
public:
    Buffer();
    Buffer(Device& device, std::uint64_t bytes, Memory intent, const std::string& name);
    Buffer(Buffer&& other) noexcept;
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer();

    std::uint64_t address() const { return address_; }
    std::uint64_t bytes() const { return bytes_; }
    /// Coherent host view of upload and readback memory, and of device memory that is host memory; else empty.
    std::span<std::byte> mapped() const { return {mapped_, mapped_ ? bytes_ : 0}; }
    void* handle() const { return buffer_; }

    /// Synchronous copies for loading and saving: wait for the device, and use a staging buffer if the memory is not
    /// mapped.
    void write(std::uint64_t offset, std::span<const std::byte> data);
    void read(std::uint64_t offset, std::span<std::byte> data) const;
    void fill(std::uint32_t word);

private:
    Device* device_ = nullptr;
    void* buffer_ = nullptr;      // VkBuffer
    void* allocation_ = nullptr;  // VmaAllocation
    std::unique_ptr<HostPool> pool_;
    std::byte* mapped_ = nullptr;
    std::uint64_t bytes_ = 0;
    std::uint64_t address_ = 0;
};

}  // namespace vkf
