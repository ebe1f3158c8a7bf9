// What is to be run, as plain data: commands in phases, one barrier wherever two phases meet.
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
    std::vector<std::byte> push;  // its Args
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

/// Commands that may run in any order and all at once. Each phase begins with a barrier: it waits for everything before
/// it, also for what was submitted before, and sees all that was written.
struct Phase {
    bool stamped = false;  // takes the time when what stands before it has finished
    std::vector<Command> commands;
};

/// One command buffer.
using Segment = std::vector<Phase>;

/// How many phases are open for a GPU: as many as a few layers of a model have.
constexpr std::size_t open_phases_of_gpu = 64;

/// All that command buffers are written from, and from nothing else.
struct Recording {
    std::vector<Segment> segments{Segment(1)};
    /// So many of a segment's last phases may still be joined. With one, commands stay in order; more of them make a
    /// GPU wait less often and have more to do at once.
    std::size_t open_phases = 1;

    /// Adds a command to the earliest open phase behind all commands that it conflicts with, and behind the last stamp.
    /// Begins a phase if there is none.
    void add(Command command);
    /// Begins a phase that is stamped.
    void stamp();
    /// Begins a segment.
    void cut();

    /// Barriers within segments; each segment begins with one more.
    std::size_t barriers() const;
    std::size_t stamps() const;
};

/// Puts the commands of each phase in an order drawn from the seed: if that changes a result, a barrier is missing.
void shuffle(Recording& recording, std::uint64_t seed);

}  // namespace vkf
