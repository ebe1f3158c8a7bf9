#include "program/arena.h"

#include <algorithm>

#include "base/error.h"
#include "vulkan/device/device.h"

namespace vkf {

Arena::Arena(Device& device, std::uint64_t bytes, std::uint64_t limit, Memory intent, const std::string& name)
    : bytes_(bytes), limit_(limit) {
    std::uint64_t made = 0;
    do {
        buffers_.emplace_back(device, std::min(limit, bytes - made), intent, name);
        made += buffers_.back().bytes();
    } while (made < bytes);
}

std::pair<const Buffer*, std::uint64_t> Arena::place(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset + bytes > bytes_ || offset % limit_ + bytes > limit_)
        throw Error("bytes ", offset, " to ", offset + bytes, " do not lie in one buffer of ", limit_);
    return {&buffers_[static_cast<std::size_t>(offset / limit_)], offset % limit_};
}

std::uint64_t Arena::address(std::uint64_t offset, std::uint64_t bytes) const {
    const auto [buffer, at] = place(offset, bytes);
    return buffer->address() + at;
}

std::span<std::byte> Arena::mapped(std::uint64_t offset, std::uint64_t bytes) const {
    if (bytes == 0) return {};
    const auto [buffer, at] = place(offset, bytes);
    return buffer->mapped().subspan(at, bytes);
}

void Arena::write(std::uint64_t offset, std::span<const std::byte> data) {
    while (!data.empty()) {
        const std::uint64_t at = offset % limit_, part = std::min<std::uint64_t>(data.size(), limit_ - at);
        buffers_[static_cast<std::size_t>(offset / limit_)].write(at, data.first(part));
        offset += part;
        data = data.subspan(part);
    }
}

void Arena::read(std::uint64_t offset, std::span<std::byte> data) const {
    while (!data.empty()) {
        const std::uint64_t at = offset % limit_, part = std::min<std::uint64_t>(data.size(), limit_ - at);
        buffers_[static_cast<std::size_t>(offset / limit_)].read(at, data.first(part));
        offset += part;
        data = data.subspan(part);
    }
}

void Arena::fill(std::uint32_t word) {
    for (Buffer& buffer : buffers_) buffer.fill(word);
}

void require_buffer(const Device& device, const std::string& tensor, std::int64_t bytes) {
    const std::uint64_t most = device.info().max_buffer_bytes;
    if (static_cast<std::uint64_t>(bytes) > most)
        throw Error(tensor, " takes ", bytes, " bytes; the largest buffer of ", device.info().name, " has ", most);
}

}  // namespace vkf
