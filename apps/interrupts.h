// Ctrl-C and SIGTERM: asked once, a command stops where it loses nothing.
#pragma once

namespace vkf {

/// The program was asked to stop and has stopped cleanly: exit status 130, as shells report it.
struct Interrupted {};

/// From here on Ctrl-C (or SIGTERM) only sets a flag, which loops look at. Another signal a second or more after the
/// first ends the program at once, also with status 130; an earlier one is taken for the same request, since a signal
/// to a group of processes often comes twice.
void catch_interrupts();
bool interrupted();
/// What was asked for has been done, and the program goes on: the next signal is a new request.
void forget_interrupt();

/// Throws Interrupted if the program was asked to stop.
void stop_if_interrupted();

}  // namespace vkf
