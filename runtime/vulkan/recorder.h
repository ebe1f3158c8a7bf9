// Command buffers written once and submitted many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/hazards.h"

namespace vkf {

class Buffer;
class Device;
struct Kernel;

/// Recorded segments, each submitted by itself so that no submission runs for seconds. Owns its command buffers.
class Commands {
public:
    Commands() noexcept;
    Commands(Commands&&) noexcept;
    Commands& operator=(Commands&&) noexcept;
    ~Commands();

    /// Submits every segment in order, `before` together with the first and `after` with the last; returns the ticket
    /// to wait for. Throws Error if the device was lost.
    std::uint64_t submit(const Commands& before, const Commands& after);
    std::uint64_t submit();
    std::size_t segments() const;
    std::size_t barriers() const;
    /// Milliseconds between consecutive stamps of the last finished run.
    std::vector<double> stamps_ms() const;

private:
    friend class Recorder;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Waits until the device has reached a ticket.
void wait(Device& device, std::uint64_t ticket);

/// Records kernels and copies in order, putting a barrier only where the accesses demand one.
class Recorder {
public:
    explicit Recorder(Device& device, std::size_t stamps = 0);
    ~Recorder();

    void dispatch(const Kernel& kernel, std::span<const std::byte> push, std::uint64_t groups,
                  std::span<const Access> accesses);
    void copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
              std::uint64_t bytes);
    /// Ends the current segment.
    void cut();
    /// Waits for what stands before and takes the time.
    void stamp();

    Commands finish();

private:
    void guard(std::span<const Access> accesses);

    Device& device_;
    std::unique_ptr<Commands::Impl> impl_;
    Hazards hazards_;
    void* current_ = nullptr;  // VkCommandBuffer being recorded
};

}  // namespace vkf
