#include "base/os/host_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

extern "C" char** environ;  // POSIX has it in no header

namespace vkf::os {

namespace {

/// Text behind `separator` in the first line of a system's file that begins with `name`; empty if there is none.
std::string line_value(const char* file, std::string_view name, std::string_view separator) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.find(separator);
        if (line.starts_with(name) && at != std::string::npos) return line.substr(at + separator.size());
    }
    return {};
}

std::string system_name() {
    std::string name = line_value("/etc/os-release", "PRETTY_NAME", "=");
    std::erase(name, '"');
    return name;
}

}  // namespace

HostFacts host_facts() {
    HostFacts made{.system = system_name(),
                   .processor = line_value("/proc/cpuinfo", "model name", ": "),
                   .threads = std::thread::hardware_concurrency()};
    ::utsname system{};
    if (::uname(&system) == 0) made.kernel = std::string(system.sysname) + ' ' + system.release;
    const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
        made.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
    return made;
}

std::map<std::string, std::string> environment_variables(std::span<const std::string_view> prefixes) {
    std::map<std::string, std::string> made;
    for (char** at = environ; at && *at; ++at) {
        const std::string_view variable = *at;
        const std::size_t end = variable.find('=');
        const auto begins = [&](std::string_view prefix) { return variable.substr(0, end).starts_with(prefix); };
        if (end == std::string_view::npos || std::ranges::none_of(prefixes, begins)) continue;
        made.emplace(variable.substr(0, end), variable.substr(end + 1));
    }
    return made;
}

}  // namespace vkf::os
