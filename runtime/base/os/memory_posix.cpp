#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/os/control_groups.h"
#include "base/os/memory.h"

namespace vkf {

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t left(std::uint64_t limit, std::uint64_t used) {
    return limit - std::min(limit, used);
}

/// The number after `key` at the start of a line of the system's file, e.g. "VmSize:" in /proc/self/status.
std::optional<std::uint64_t> entry(const std::filesystem::path& file, std::string_view key) {
    std::ifstream lines(file);
    std::uint64_t value = 0;
    for (std::string word; lines >> word; lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
        if (word == key) return lines >> value ? std::optional(value) : std::nullopt;
    return std::nullopt;
}

/// Number in a file that holds nothing else; none for "max".
std::optional<std::uint64_t> number(const std::filesystem::path& file) {
    std::ifstream from(file);
    std::uint64_t value = 0;
    return from >> value ? std::optional(value) : std::nullopt;
}

/// Bytes that a control group leaves; its file cache counts as free.
std::uint64_t left_in(const std::filesystem::path& group, const char* limit, const char* usage, const char* cache) {
    const auto most = number(group / limit), used = number(group / usage);
    if (!most || !used) return no_limit;
    return left(*most, left(*used, entry(group / "memory.stat", cache).value_or(0)));
}

}  // namespace

std::uint64_t free_in_groups(const std::filesystem::path& self, const std::filesystem::path& root) {
    std::uint64_t least = no_limit;
    std::ifstream lines(self);  // number:controllers:path; version 2 has no controllers
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool old = controllers == "memory";
        if (!old && !controllers.empty()) continue;
        for (std::filesystem::path group = line.substr(second + 1);; group = group.parent_path()) {
            const std::filesystem::path at = (old ? root / "memory" : root) / group.relative_path();
            least = std::min(least,
                             old ? left_in(at, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                                 : left_in(at, "memory.max", "memory.current", "inactive_file"));
            if (!group.has_relative_path()) break;
        }
    }
    return least;
}

void trim_heap() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

std::uint64_t free_address_space() {
    std::uint64_t least = no_limit;
    for (const auto& [resource, used] : {std::pair(RLIMIT_AS, "VmSize:"), std::pair(RLIMIT_DATA, "VmData:")}) {
        rlimit limit{};
        if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
        least = std::min(least, left(limit.rlim_cur, 1024 * entry("/proc/self/status", used).value_or(0)));
    }
    return least;
}

std::string memory_limits() {
    std::string words;
    for (const auto& [resource, option] : {std::pair(RLIMIT_AS, "-v"), {RLIMIT_DATA, "-d"}, {RLIMIT_FSIZE, "-f"}}) {
        rlimit limit{};
        if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            words += text("; ulimit ", option, " is ", limit.rlim_cur / 1024, " KiB");
    }
    return words;
}

std::uint64_t peak_memory() {
    rusage use = {};
    ::getrusage(RUSAGE_SELF, &use);
    return static_cast<std::uint64_t>(use.ru_maxrss) * 1024;
}

std::uint64_t free_memory() {
    const auto available = entry("/proc/meminfo", "MemAvailable:");
    return std::min({available ? *available * 1024 : no_limit, free_in_groups(), free_address_space()});
}

bool readable(const std::byte* at) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return true;        // unknown
    const bool taken = ::write(ends[1], at, 1) == 1;  // fails with EFAULT where touching it would raise a signal
    ::close(ends[0]);
    ::close(ends[1]);
    return taken;
}

}  // namespace vkf
