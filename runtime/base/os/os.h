// Services of the operating system other than files, processes and memory: standard streams, environment, arguments.
// One interface on POSIX and Windows; CMake takes either the files *_posix.cpp or *_windows.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vkf::os {

// --- This process --------------------------------------------------------------------------------

/// Must be called first in main(). Opens closed standard streams, so that no file takes their place; streams pass bytes
/// unchanged. A write to a pipe without a reader, or beyond a limit, then fails instead of ending the program.
void prepare_process();

/// The words of the command line in UTF-8, from main()'s arguments.
std::vector<std::string> arguments(int argc, const char* const* argv);

/// Path of the running program. Throws Error if the system does not tell it.
std::filesystem::path program_path();

/// Id of this process, unique among running processes.
long process_id();

/// Processor time of this process so far, in all its threads, in seconds.
double processor_seconds();

/// Lets Ctrl-C and other requests to end (SIGTERM; on Windows Ctrl-Break and a closed console) call `handler`. It may
/// run at any moment, in any thread, and may only do what is allowed in a signal handler.
void on_interrupt(void (*handler)());

// --- Environment ---------------------------------------------------------------------------------

/// A variable of the environment in UTF-8; nothing if it is not set. Variables that Vulkan drivers read must be set
/// before the first thread and device.
std::optional<std::string> environment(const char* name);
void set_environment(const char* name, const std::optional<std::string>& value);

/// Folder of the caches of a user's programs; empty if the environment does not name it. On POSIX $XDG_CACHE_HOME, else
/// ~/.cache; on Windows %LOCALAPPDATA%.
std::filesystem::path cache_folder();

/// Folders of programs' data, the user's folder first, then those of the system. On POSIX $XDG_DATA_HOME, else
/// ~/.local/share, and $XDG_DATA_DIRS, else /usr/local/share and /usr/share; on Windows %LOCALAPPDATA% and
/// %PROGRAMDATA%. Absolute paths only.
std::vector<std::filesystem::path> data_folders();

// --- Terminals -----------------------------------------------------------------------------------

inline constexpr int STANDARD_INPUT = 0, STANDARD_OUTPUT = 1, STANDARD_ERROR = 2;

bool is_terminal(int descriptor);

/// Present width of the terminal of a descriptor; 0 if there is no terminal, or its width is unknown.
std::size_t terminal_columns(int descriptor);

}  // namespace vkf::os
