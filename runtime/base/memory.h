// What this process may still take of the machine's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace vkf {

/// Bytes that can be allocated now without swapping or being refused: what the machine has available (/proc/meminfo),
/// what the process's control groups leave of their limits, and what `ulimit -v` and `ulimit -d` leave. On systems that
/// tell nothing of these, no limit.
std::uint64_t free_memory();

/// The most bytes that this process has had in memory so far.
std::uint64_t peak_memory();

/// What this process's control groups, and those that they lie in, leave of their limits; of either version of them. In
/// a container the paths in `self` may be those outside it, where nothing is found: then the root is its own group.
std::uint64_t free_in_groups(const std::filesystem::path& self = "/proc/self/cgroup",
                             const std::filesystem::path& root = "/sys/fs/cgroup");

/// What `ulimit -v` and `ulimit -d` leave to this process.
std::uint64_t free_address_space();

/// Those of `ulimit -v`, `-d` and `-f` that are set, for the end of a message: "; ulimit -v is 600 KiB". Empty if none
/// is.
std::string memory_limits();

/// Whether the byte is there to be read. In a mapping of a file past the file's end it is not, and to touch it would
/// end the process with SIGBUS; where memory was not mapped at all, with SIGSEGV.
bool readable(const std::byte* at);

}  // namespace vkf
