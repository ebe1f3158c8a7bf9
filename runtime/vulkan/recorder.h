// Recorder of kernels and copies, from which command buffers are written.
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

/// Records kernels and copies, with a barrier only where accesses conflict.
///
/// If the environment variable VKFORMER_SHUFFLE is a whole number, commands between two barriers run in a random order
/// with this seed, which must not change a result.
class Recorder {
public:
    /// `open_phases`: see Recording::open_phases.
    explicit Recorder(Device& device, std::size_t open_phases = 1) : device_(device) {
        recording_.open_phases = open_phases;
    }

    void dispatch(const Kernel& kernel, std::span<const std::byte> push, std::uint64_t groups,
                  std::span<const Access> accesses);
    void copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
              std::uint64_t bytes);
    /// Ends the current segment.
    void cut() { recording_.cut(); }
    /// Records a timestamp, taken when all earlier commands have finished.
    void stamp() { recording_.stamp(); }

    /// Returns the recorded commands and starts anew. Throws InputError if VKFORMER_SHUFFLE is not a whole number.
    Commands finish();

private:
    Device& device_;
    Recording recording_;
};

}  // namespace vkf
