// Conflicts between commands, which need a barrier: derived from the address ranges that each command reads and writes.
#pragma once

#include <cstdint>
#include <span>

namespace vkf {

/// Memory that a command touches: one of a kernel's arguments, or one end of a copy.
struct Access {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool writes = false;
};

/// True if commands with these accesses must not run at once. A write conflicts with any access that overlaps it; two
/// reads never conflict.
inline bool conflict(std::span<const Access> before, std::span<const Access> next) {
    for (const Access& a : next)
        for (const Access& b : before)
            if ((a.writes || b.writes) && a.begin < b.end && b.begin < a.end) return true;
    return false;
}

}  // namespace vkf
