// The threads in which Mesa's CPU device dispatches kernels and runs them, each on a processor.
#pragma once

#include <vector>

namespace vkf {

/// Numbers of this process's threads, in order; none where the system does not tell.
std::vector<int> threads();

/// Gives every worker that a CPU device has started, while only `before` were there, a processor of its own among those
/// that the process may use; does nothing if there are not as many workers as processors. Whether each of the machine's
/// processors now has a worker.
///
/// Why: a dispatch wakes all workers at once and waits for the last. Linux often wakes two on one processor and leaves
/// another idle for seconds, which made training 1.5 times slower. The queue's thread, which also compiles kernels, is
/// free to run where a processor idles: bound to a place, it would share that with the queue's thread of every other
/// process (docs/lab/cpu-driver.md).
bool spread_workers(const std::vector<int>& before);

}  // namespace vkf
