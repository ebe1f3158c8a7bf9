// Finds commands that may run at once and touch the same bytes. It sorts all accesses, so that it does not depend on
// runtime/vulkan/hazards.h.
#pragma once

#include <string>

#include "vulkan/recording.h"

namespace vkf::test {

/// Describes two commands of a phase that touch the same byte, which one of them writes; empty if there are none.
std::string race(const Phase& phase);
/// Describes the first race in any phase of a recording; empty if there is none.
std::string race(const Recording& recording);

/// Commands that would run at once without the barrier between two phases.
Phase without_barrier(const Phase& before, const Phase& after);

/// Describes the first wrong access of a command; empty if all are right. An address among a kernel's arguments must be
/// read and written as the kernel declares; a copy must read and write as many bytes as it copies. Addresses in a
/// kernel's tables are not checked.
std::string misstated(const Command& command);

}  // namespace vkf::test
