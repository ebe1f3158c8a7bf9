// Command buffers written once and submitted many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace vkf {

class Device;
struct Recording;

/// Recorded segments and their command buffers. A few segments are submitted at a time, so that no submission runs for
/// seconds.
class Commands {
public:
    Commands() noexcept;
    /// Writes a command buffer for each segment. Throws Error if there are stamps and the device has no timestamps.
    Commands(Device& device, Recording recording);
    Commands(Commands&&) noexcept;
    Commands& operator=(Commands&&) noexcept;
    ~Commands();

    /// Submits every segment in order, as the free function submit() does.
    std::uint64_t submit();
    /// Recording from which the command buffers were written.
    const Recording& recording() const;
    /// Milliseconds between consecutive stamps of the last finished run.
    std::vector<double> stamps_ms() const;

private:
    friend std::uint64_t submit(Device& device, std::span<const Commands* const> list, std::size_t joined);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Submits every segment of the list in order, `joined` of them at a time; the first segment of each Commands goes with
/// the last of the Commands before it. Returns the ticket to wait for. Throws Error if the device was lost.
std::uint64_t submit(Device& device, std::span<const Commands* const> list, std::size_t joined = 1);

/// Waits until the device has reached a ticket. Throws DeviceHang if the device finishes no submission for longer than
/// its patience (Device::set_patience).
void wait(const Device& device, std::uint64_t ticket);

}  // namespace vkf
