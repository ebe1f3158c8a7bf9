// When a barrier is needed between kernels: derived from the address ranges each one reads and writes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vkf {

/// One kernel argument's memory.
struct Access {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool writes = false;
};

/// The accesses since the last barrier. Two reads never conflict; a write conflicts with any overlap.
class Hazards {
public:
    /// True if a kernel with these accesses must wait for those noted so far.
    bool conflict(std::span<const Access> accesses) const {
        for (const Access& next : accesses)
            for (const Access& before : pending_)
                if ((next.writes || before.writes) && next.begin < before.end && before.begin < next.end) return true;
        return false;
    }

    void note(std::span<const Access> accesses) { pending_.insert(pending_.end(), accesses.begin(), accesses.end()); }
    void clear() { pending_.clear(); }

private:
    std::vector<Access> pending_;
};

}  // namespace vkf
