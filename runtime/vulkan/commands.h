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

/// Recorded segments, which are submitted a few at a time so that no submission runs for seconds. Owns its command
/// buffers.
class Commands {
public:
    Commands() noexcept;
    /// Writes a command buffer for each segment. Throws Error if there are stamps and the device has none.
    Commands(Device& device, Recording recording);
    Commands(Commands&&) noexcept;
    Commands& operator=(Commands&&) noexcept;
    ~Commands();

    /// Submits every segment in order; as submit() below.
    std::uint64_t submit();
    /// What the command buffers were written from.
    const Recording& recording() const;
    /// Milliseconds between consecutive stamps of the last finished run.
    std::vector<double> stamps_ms() const;

private:
    friend std::uint64_t submit(Device& device, std::span<const Commands* const> list, std::size_t joined);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Submits every segment of these, one after the other, `joined` of them at a time and the first of each together with
/// the last of the one before it; returns the ticket to wait for. Throws Error if the device was lost.
std::uint64_t submit(Device& device, std::span<const Commands* const> list, std::size_t joined = 1);

/// Waits until the device has reached a ticket. Throws DeviceHang if it finishes no submission for longer than the
/// device's patience (Device::set_patience).
void wait(const Device& device, std::uint64_t ticket);

}  // namespace vkf
