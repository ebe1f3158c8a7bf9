#include "base/os/memory.h"

#include <algorithm>

#include "base/text/windows_text.h"

// After Windows' own header.
#include <psapi.h>

namespace vkf {

namespace {

MEMORYSTATUSEX memory_status() {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    ::GlobalMemoryStatusEx(&status);
    return status;
}

}  // namespace

std::uint64_t free_memory() {
    const MEMORYSTATUSEX status = memory_status();
    return std::min({status.ullAvailPhys, status.ullAvailPageFile, status.ullAvailVirtual});
}

std::uint64_t peak_memory() {
    PROCESS_MEMORY_COUNTERS counters{};
    ::K32GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters);
    return counters.PeakWorkingSetSize;
}

void trim_heap() {}

std::uint64_t free_address_space() {
    return memory_status().ullAvailVirtual;
}

std::string memory_limits() {
    return {};
}

bool readable(const std::byte* at) {
    std::byte taken{};
    return ::ReadProcessMemory(::GetCurrentProcess(), at, &taken, 1, nullptr) != 0;
}

}  // namespace vkf
