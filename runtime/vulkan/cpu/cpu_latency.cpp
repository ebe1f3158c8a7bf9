#include "vulkan/cpu/cpu_latency.h"

#include <span>

namespace vkf {

void CpuLatencyRequest::hold() {
    ask(true, 0);
}

void CpuLatencyRequest::release() {
    constexpr int any = 2'000'000'000;  // PM_QOS_CPU_LATENCY_DEFAULT_VALUE: same as no request
    ask(false, any);
}

/// Writes the request. A failed write is harmless: kernels run as without the request.
void CpuLatencyRequest::ask(bool held, int microseconds) {
    if (held == held_ || !file_.valid()) return;
    held_ = held;
    os::write(file_.descriptor(), std::as_bytes(std::span(&microseconds, 1)));
}

bool refuses_cpu_latency() {
#ifdef __linux__
    return !CpuLatencyRequest(cpu_latency_file).valid();
#else
    return false;
#endif
}

}  // namespace vkf
