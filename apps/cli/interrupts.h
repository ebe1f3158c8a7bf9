// Ctrl-C and SIGTERM: after one request a command stops at a point where no work is lost.
#pragma once

namespace vkf {

/// Thrown to stop cleanly after a request; exit status 130, as shells report it.
struct Interrupted {};

/// From this call on, Ctrl-C (or SIGTERM) only sets a flag, which loops check. Another signal a second or more after
/// the first ends the program at once, also with status 130; an earlier one counts as the same request, since a signal
/// to a group of processes often comes twice.
void catch_interrupts();
bool interrupted();
/// Clears a request that was served, if the program goes on; the next signal is a new request.
void forget_interrupt();

/// Throws Interrupted if the program was asked to stop.
void stop_if_interrupted();

}  // namespace vkf
