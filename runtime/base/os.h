// What a program asks of the operating system beside files, processes and memory: its own streams, environment and
// arguments. In one form on POSIX and on Windows; CMake takes either the files *_posix.cpp or *_windows.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vkf::os {

// --- This process --------------------------------------------------------------------------------

/// What main() does first. The standard streams are there, so that no file takes a closed one's place, and pass bytes
/// as they are; a write to somebody who has gone, or beyond a limit, fails instead of ending the program.
void prepare_process();

/// The words of the command line in UTF-8, from main()'s arguments.
std::vector<std::string> arguments(int argc, const char* const* argv);

/// This process's number, unlike that of any other that runs.
long process_id();

/// Seconds that processors have spent on this process so far, in all its threads.
double processor_seconds();

/// From here on Ctrl-C, and what else asks a program to end (SIGTERM; on Windows Ctrl-Break and a closed console), call
/// `handler`, which may run at any moment, in any thread, and may only do what a signal's handler may.
void on_interrupt(void (*handler)());

// --- Environment ---------------------------------------------------------------------------------

/// A variable of the environment in UTF-8; nothing if it is not set. What Vulkan's drivers read must be set before the
/// first thread and device.
std::optional<std::string> environment(const char* name);
void set_environment(const char* name, const std::optional<std::string>& value);

/// Where a user's programs keep what they can do without; empty if the environment does not say. On POSIX
/// $XDG_CACHE_HOME, else ~/.cache; on Windows %LOCALAPPDATA%.
std::filesystem::path cache_folder();

/// Where data of programs lies, the user's folder first, then those of the system. On POSIX $XDG_DATA_HOME, else
/// ~/.local/share, and $XDG_DATA_DIRS, else /usr/local/share and /usr/share; on Windows %LOCALAPPDATA% and
/// %PROGRAMDATA%. Absolute paths only.
std::vector<std::filesystem::path> data_folders();

// --- Terminals -----------------------------------------------------------------------------------

inline constexpr int STANDARD_INPUT = 0, STANDARD_OUTPUT = 1, STANDARD_ERROR = 2;

bool is_terminal(int descriptor);

/// The width of the terminal behind a descriptor, as it is now; 0 if there is none, or it does not say.
std::size_t terminal_columns(int descriptor);

}  // namespace vkf::os
