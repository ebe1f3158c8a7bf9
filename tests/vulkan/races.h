// Whether commands that may run at once touch the same bytes: found by sorting all that they touch, so that it owes
// nothing to runtime/vulkan/hazards.h.
#pragma once

#include <string>

#include "vulkan/recording.h"

namespace vkf::test {

/// Two commands of a phase that touch the same byte, which one of them writes, in words; empty if there are none.
std::string race(const Phase& phase);
/// The first race in any phase of a recording.
std::string race(const Recording& recording);

/// What would run at once without the barrier between two phases.
Phase without_barrier(const Phase& before, const Phase& after);

/// What is wrong with the accesses of a command, by its own data: an address among a kernel's arguments must be read
/// and written as the kernel says, a copy read and write as many bytes as it copies. Empty: nothing. The addresses in
/// a kernel's tables are not looked at.
std::string misstated(const Command& command);

}  // namespace vkf::test
