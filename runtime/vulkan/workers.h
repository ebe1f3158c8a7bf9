// The threads in which Mesa's CPU device runs kernels, one on each processor.
#pragma once

#include <vector>

namespace vkf {

/// Numbers of this process's threads, in order; none where the system does not tell.
std::vector<int> threads();

/// Gives every worker that a CPU device has started, while only `before` were there, a processor of its own among those
/// that the process may use; does nothing if there are not as many of the one as of the other. Whether each of the
/// machine's processors now has one.
///
/// Why: a dispatch wakes all workers at once and waits for the last. Linux often wakes two on one processor and leaves
/// another idle for seconds, which made training 1.5 times slower (docs/lab/cpu-driver.md).
bool spread_workers(const std::vector<int>& before);

}  // namespace vkf
