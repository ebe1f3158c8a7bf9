// Commands to run, as plain data: in phases, with a barrier between two phases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "vulkan/hazards.h"

namespace vkf {

struct Kernel;

struct KernelLaunch {
    const Kernel* kernel = nullptr;
    std::vector<std::byte> push;  // the kernel's Args
    std::uint32_t x = 0, y = 0;   // workgroups
};

struct BufferCopy {
    void* from = nullptr;  // VkBuffer
    std::uint64_t from_offset = 0;
    void* to = nullptr;  // VkBuffer
    std::uint64_t to_offset = 0;
    std::uint64_t bytes = 0;
};

struct Command {
    std::variant<KernelLaunch, BufferCopy> what;
    std::vector<Access> accesses;
};

/// Commands that may run in any order and all at once. Each phase begins with a barrier: it waits for all earlier
/// commands, also of earlier submissions, and sees everything that they wrote.
struct Phase {
    bool stamped = false;  // takes a timestamp when all earlier commands have finished
    std::vector<Command> commands;
};

/// One command buffer.
using Segment = std::vector<Phase>;

/// Number of open phases for a GPU: as many as a few layers of a model have.
constexpr std::size_t open_phases_of_gpu = 64;

/// Complete input from which command buffers are written.
struct Recording {
    std::vector<Segment> segments{Segment(1)};
    /// Number of a segment's last phases to which commands may still be added. With one, commands stay in order; with
    /// more, a GPU waits less often and has more to do at once.
    std::size_t open_phases = 1;

    /// Adds a command to the earliest open phase that is after all commands that it conflicts with and after the last
    /// stamp. Begins a phase if there is none.
    void add(Command command);
    /// Begins a stamped phase.
    void stamp();
    /// Begins a segment.
    void cut();

    /// Number of barriers within segments; each segment begins with one more.
    std::size_t barriers() const;
    std::size_t stamps() const;
};

/// Shuffles the commands within each phase by the seed: if this changes a result, a barrier is missing.
void shuffle(Recording& recording, std::uint64_t seed);

}  // namespace vkf
