#include "apps/interrupts.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace vkf {

namespace {

constexpr std::int64_t INSISTING = 1'000'000'000;  // nanoseconds after the first signal

std::atomic<std::int64_t> asked_at = 0;  // by the steady clock, in nanoseconds; 0: never
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal's handler may not wait");

/// Signals may come to several threads at once.
void take_signal(int) {
    std::timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    const std::int64_t now = time.tv_sec * INT64_C(1'000'000'000) + time.tv_nsec;
    std::int64_t first = 0;
    if (!asked_at.compare_exchange_strong(first, now) && now - first >= INSISTING) ::_exit(130);
}

}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = take_signal;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
    return asked_at != 0;
}

void forget_interrupt() {
    asked_at = 0;
}

void stop_if_interrupted() {
    if (interrupted()) throw Interrupted();
}

}  // namespace vkf
