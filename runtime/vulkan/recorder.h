// Records kernels and copies, and writes command buffers from what was recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vulkan/commands.h"
#include "vulkan/recording.h"

namespace vkf {

class Buffer;
class Device;
struct Kernel;

/// Records kernels and copies, putting a barrier only where the accesses demand one.
///
/// With the environment variable VKFORMER_SHUFFLE set to a whole number, what stands between two barriers is run in an
/// order drawn from it, which must change no result.
class Recorder {
public:
    /// `open_phases` is the recording's.
    explicit Recorder(Device& device, std::size_t open_phases = 1) : device_(device) {
        recording_.open_phases = open_phases;
    }

    void dispatch(const Kernel& kernel, std::span<const std::byte> push, std::uint64_t groups,
                  std::span<const Access> accesses);
    void copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
              std::uint64_t bytes);
    /// Ends the current segment.
    void cut() { recording_.cut(); }
    /// Waits for what stands before and takes the time.
    void stamp() { recording_.stamp(); }

    /// Throws InputError if VKFORMER_SHUFFLE is no whole number.
    Commands finish();

private:
    Device& device_;
    Recording recording_;
};

}  // namespace vkf
