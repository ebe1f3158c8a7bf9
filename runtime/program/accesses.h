// Memory that a launch's arguments let its kernel read and write.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "vulkan/hazards.h"
#include "vulkan/kernel/reflect.h"

namespace vkf {

/// A run of device memory.
struct MemoryRange {
    std::uint64_t at = 0, bytes = 0;
};

/// Places of a graph's tensors, and of the temporaries of one node.
struct Places {
    std::function<std::uint64_t(Tensor)> tensor;
    std::function<MemoryRange(Scratch)> scratch;
};

/// Memory that an argument stands for, including gaps between its rows; 0 bytes if it is absent, nullopt if it is a
/// number or a table. Throws Error if a section ends outside its tensor or temporary.
std::optional<MemoryRange> reached(const Places& places, const ArgValue& value);

/// Memory that a kernel with these members of its Args accesses through its arguments, including the rows of tables.
std::vector<Access> accesses(const Places& places, std::span<const ArgMember> members, const Args& given);

}  // namespace vkf
