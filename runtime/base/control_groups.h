// Limits of memory that Linux sets to groups of processes, such as containers.
#pragma once

#include <cstdint>
#include <filesystem>

namespace vkf {

/// What this process's control groups, and those that they lie in, leave of their limits; of either version of them. In
/// a container the paths in `self` may be those outside it, where nothing is found: then the root is its own group.
std::uint64_t free_in_groups(const std::filesystem::path& self = "/proc/self/cgroup",
                             const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace vkf
