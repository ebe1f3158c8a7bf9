// Keeps processors awake while a CPU device computes.
#pragma once

#include <filesystem>

#include "base/os_file.h"

namespace vkf {

/// A request to Linux's CPU latency QoS, which root may make, and whom it lets (`cpu_latency_file`): as long as it is
/// held, an idle processor waits for work instead of sleeping. The system drops it when the process ends, however that
/// happens. Where it may not be made, and on other systems, holding it does nothing.
///
/// Why: a dispatch wakes all workers of a CPU device and waits for the last. They have nothing to do for microseconds
/// in between, and a processor that sleeps then takes longer to wake than many a kernel runs: in a virtual machine a
/// token of SmolLM2 took 1.4 times as long (docs/lab/cpu-driver.md).
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

/// Whether this is Linux, and the request may not be made.
bool refuses_cpu_latency();

}  // namespace vkf
