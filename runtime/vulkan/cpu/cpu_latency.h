// Keeps processors awake while a CPU device computes.
#pragma once

#include <filesystem>

#include "base/files/os_file.h"

namespace vkf {

/// A request to Linux's CPU latency QoS, which may be made by root and by users whom root permits (`cpu_latency_file`):
/// while it is held, an idle processor waits for work instead of sleeping. The system drops the request when the
/// process ends, even by a crash. Without the permission, and on other systems, holding it does nothing.
///
/// Reason: a dispatch wakes all workers of a CPU device and waits for the last. Between dispatches they are idle for
/// microseconds, and waking a sleeping processor takes longer than many kernels run: in a virtual machine a token of
/// SmolLM2 took 1.4 times as long (docs/lab/cpu-driver.md).
class CpuLatencyRequest {
public:
    CpuLatencyRequest() = default;  // never does anything
    explicit CpuLatencyRequest(const std::filesystem::path& file) : file_(file, os::Open::write) {}

    bool valid() const { return file_.valid(); }
    void hold();
    void release();

private:
    void ask(bool held, int microseconds);

    os::File file_;
    bool held_ = false;
};

inline constexpr const char* cpu_latency_file = "/dev/cpu_dma_latency";

/// True on Linux if the request may not be made.
bool refuses_cpu_latency();

}  // namespace vkf
