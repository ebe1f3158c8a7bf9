// Which memory a launch's arguments let its kernel read and write.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "vulkan/hazards.h"
#include "vulkan/reflect.h"

namespace vkf {

/// A run of device memory.
struct MemoryRange {
    std::uint64_t at = 0, bytes = 0;
};

/// Where a graph's tensors lie, and the temporaries of one node.
struct Places {
    std::function<std::uint64_t(Tensor)> tensor;
    std::function<MemoryRange(Scratch)> scratch;
};

/// The memory that an argument stands for, gaps between its rows included; of no bytes if it is absent, nothing if it
/// is a number or a table. Throws Error if a section ends outside of what it is a section of.
std::optional<MemoryRange> reached(const Places& places, const ArgValue& value);

/// What a kernel with these members of its Args touches of what it is given, also by the rows of tables.
std::vector<Access> accesses(const Places& places, std::span<const ArgMember> members, const Args& given);

}  // namespace vkf
