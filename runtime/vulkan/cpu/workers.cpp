#include "vulkan/cpu/workers.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>
#include <unistd.h>
#endif

namespace vkf {

#ifdef __linux__

namespace {

std::string name_of(const std::string& thread) {
    std::string name;
    std::getline(std::ifstream("/proc/" + thread + "/comm"), name);
    return name;
}

/// Processors that the process may use.
std::vector<int> processors() {
    std::vector<int> list;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return list;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed)) list.push_back(i);
    return list;
}

void bind(int thread, int processor) {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    sched_setaffinity(thread, sizeof own, &own);  // a failure is harmless
}

/// New threads that still have the name of the thread that started them: first the queue's, then the workers. Threads
/// of rasterisers and of the cache give themselves names, perhaps a moment after their start.
std::vector<int> unnamed(const std::vector<int>& before) {
    const std::string ours = name_of("thread-self");
    std::vector<int> list;
    for (const int thread : threads())
        if (!std::ranges::binary_search(before, thread) && name_of("self/task/" + std::to_string(thread)) == ours)
            list.push_back(thread);
    return list;
}

}  // namespace

std::vector<int> threads() {
    std::vector<int> list;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", none))
        list.push_back(std::stoi(entry.path().filename().string()));
    std::ranges::sort(list);
    return list;
}

bool spread_workers(const std::vector<int>& before) {
    const std::vector<int> places = processors();
    std::vector<int> started;
    for (int tries = 0; tries < 20; ++tries) {
        started = unnamed(before);
        if (started.size() <= places.size() + 1) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (places.size() < 2 || started.size() != places.size() + 1) return false;
    for (std::size_t i = 0; i < places.size(); ++i) bind(started[i + 1], places[i]);  // started[0] is the queue's
    return std::ssize(places) == sysconf(_SC_NPROCESSORS_ONLN);
}

#else

std::vector<int> threads() {
    return {};
}

bool spread_workers(const std::vector<int>&) {
    return false;
}

#endif

}  // namespace vkf
