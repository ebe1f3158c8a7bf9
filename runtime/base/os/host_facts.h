// Facts about the machine that this process runs on, for reports.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace vkf::os {

struct HostFacts {
    std::string system;     // "Debian GNU/Linux 12 (bookworm)", "Windows 11 Pro"
    std::string kernel;     // its version: "Linux 6.1.0-32-amd64", "10.0.22631"
    std::string processor;  // name of the first processor; empty if the system does not tell it
    unsigned threads = 0;   // threads that the processors run at once
    std::uint64_t memory_bytes = 0;
};

HostFacts host_facts();

/// Variables of the environment in UTF-8, those whose names begin with one of the prefixes, by name.
std::map<std::string, std::string> environment_variables(std::span<const std::string_view> prefixes);

}  // namespace vkf::os
