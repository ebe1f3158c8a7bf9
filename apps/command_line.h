// The program `vkformer` without its process: a command line in, an exit status out.
#pragma once

namespace vkf {

/// Finds the subcommand, runs it, and turns whatever goes wrong into one line on standard error. Returns the exit
/// status: 0 done, 1 failed while running, 2 bad usage or bad input, 130 interrupted.
int run_command_line(int argc, const char* const* argv);

}  // namespace vkf
