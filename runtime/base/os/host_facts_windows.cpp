#include "base/os/host_facts.h"

#include <algorithm>
#include <array>
#include <cwchar>
#include <thread>

#include "base/text/windows_text.h"

namespace vkf::os {

namespace {

constexpr const wchar_t* SYSTEM = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
constexpr const wchar_t* PROCESSOR = L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";

/// A text of the machine's registry; empty if it is missing.
std::string registry_text(const wchar_t* key, const wchar_t* name) {
    std::array<wchar_t, 256> words{};
    DWORD bytes = sizeof words;
    const auto status = ::RegGetValueW(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_SZ, nullptr, words.data(), &bytes);
    return status == ERROR_SUCCESS ? utf8(words.data()) : std::string();
}

}  // namespace

HostFacts host_facts() {
    HostFacts made{.system = registry_text(SYSTEM, L"ProductName"),
                   .kernel = registry_text(SYSTEM, L"CurrentBuildNumber"),
                   .processor = registry_text(PROCESSOR, L"ProcessorNameString"),
                   .threads = std::thread::hardware_concurrency()};
    MEMORYSTATUSEX memory{};
    memory.dwLength = sizeof memory;
    if (::GlobalMemoryStatusEx(&memory)) made.memory_bytes = memory.ullTotalPhys;
    return made;
}

std::map<std::string, std::string> environment_variables(std::span<const std::string_view> prefixes) {
    std::map<std::string, std::string> made;
    wchar_t* const block = ::GetEnvironmentStringsW();
    for (const wchar_t* at = block; at && *at != 0; at += std::wcslen(at) + 1) {
        const std::string variable = utf8(at);
        const std::size_t end = variable.find('=');
        const auto begins = [&](std::string_view prefix) { return variable.starts_with(prefix); };
        // Windows keeps folders of drives in variables whose names begin with '='.
        if (end == std::string::npos || end == 0 || std::ranges::none_of(prefixes, begins)) continue;
        made.emplace(variable.substr(0, end), variable.substr(end + 1));
    }
    if (block) ::FreeEnvironmentStringsW(block);
    return made;
}

}  // namespace vkf::os
