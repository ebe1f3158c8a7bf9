// Program `vkformer` as a function from a command line to an exit status.
#pragma once

namespace vkf {

/// Finds and runs the subcommand; reports any failure as one line on standard error. Returns the exit status: 0 done, 1
/// failed while running, 2 bad usage or bad input, 130 interrupted.
int run_command_line(int argc, const char* const* argv);

}  // namespace vkf
