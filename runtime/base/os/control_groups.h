// Memory limits of groups of processes on Linux, such as containers.
#pragma once

#include <cstdint>
#include <filesystem>

namespace vkf {

/// Bytes that this process's control groups, and the groups that contain them, leave of their limits; for versions 1
/// and 2. In a container the paths in `self` may be those outside, where nothing is found: `root` is then its group.
std::uint64_t free_in_groups(const std::filesystem::path& self = "/proc/self/cgroup",
                             const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace vkf
