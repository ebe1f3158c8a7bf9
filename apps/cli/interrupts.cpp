#include "apps/cli/interrupts.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "base/os/os.h"

namespace vkf {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration INSISTING = std::chrono::seconds(1);  // after the first request

std::atomic<Clock::rep> asked_at = 0;  // 0: never
static_assert(std::atomic<Clock::rep>::is_always_lock_free, "a signal's handler may not wait");

/// Requests may come to several threads at once.
void take_request() {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep first = 0;
    if (!asked_at.compare_exchange_strong(first, now) && now - first >= INSISTING.count()) std::_Exit(130);
}

}  // namespace

void catch_interrupts() {
    os::on_interrupt(take_request);
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
