// Device memory for many tensors, in as many buffers as the device needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vulkan/buffer.h"

namespace vkf {

/// Memory of one range of offsets, cut into buffers of `limit` bytes, the last of which may be smaller. Bytes that
/// cross no multiple of the limit are in one buffer, at consecutive addresses (graph/plan.h places tensors so).
/// Move-only. Throws Error if the memory cannot be allocated.
class Arena {
public:
    Arena() = default;
    Arena(Device& device, std::uint64_t bytes, std::uint64_t limit, Memory intent, const std::string& name);

    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t limit() const { return limit_; }
    std::span<const Buffer> buffers() const { return buffers_; }

    /// The buffer that holds these bytes, and their offset in it. Like address() and mapped(), throws Error if they are
    /// in several.
    std::pair<const Buffer*, std::uint64_t> place(std::uint64_t offset, std::uint64_t bytes) const;
    std::uint64_t address(std::uint64_t offset, std::uint64_t bytes) const;
    /// Host view, like Buffer::mapped.
    std::span<std::byte> mapped(std::uint64_t offset, std::uint64_t bytes) const;

    /// Synchronous copies, also across buffers.
    void write(std::uint64_t offset, std::span<const std::byte> data);
    void read(std::uint64_t offset, std::span<std::byte> data) const;
    void fill(std::uint32_t word);

private:
    std::vector<Buffer> buffers_;
    std::uint64_t bytes_ = 0, limit_ = 1;
};

/// Throws Error naming the tensor if no buffer of the device is large enough for it.
void require_buffer(const Device& device, const std::string& tensor, std::int64_t bytes);

}  // namespace vkf
