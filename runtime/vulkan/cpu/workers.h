// Threads in which Mesa's CPU device dispatches and runs kernels, and their binding to processors.
#pragma once

#include <vector>

namespace vkf {

/// Sorted numbers of this process's threads; empty on systems other than Linux.
std::vector<int> threads();

/// Binds every worker of a CPU device to a processor of its own, among those that the process may use. `before` are the
/// threads that existed before the device was opened. Does nothing unless there are as many workers as processors.
/// Returns true if each of the machine's processors now has a worker.
///
/// Reason: a dispatch wakes all workers at once and waits for the last. Linux often wakes two on one processor and
/// leaves another idle for seconds, which made training 1.5 times slower. The queue's thread, which also compiles
/// kernels, is not bound, so that it can run on an idle processor: a bound one would share its processor with the
/// queue's thread of every other process (docs/lab/cpu-driver.md).
bool spread_workers(const std::vector<int>& before);

}  // namespace vkf
