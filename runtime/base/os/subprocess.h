// Other programs: run without a shell, with their output captured, and ended on request.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace vkf {

/// Called about ten times a second; false ends the program. An empty function never ends it.
using GoOn = std::function<bool()>;

/// Result of a program. The first 64 KiB of each stream are kept.
struct Outcome {
    int status = 0;        // exit status, or 128 + the signal that ended it
    bool stopped = false;  // `go_on` returned false
    std::string output, errors;

    /// First line of standard error, or the meaning of the status: one line for a message.
    std::string complaint() const;
};

/// Runs words[0], found in PATH, with the other words as arguments; standard input is empty. Standard output goes
/// to the file `output` (replaced) unless that is empty. After an exception no child is left.
/// Throws: Error if there is no such program, it cannot be started, or `output` cannot be written.
Outcome run_program(const std::vector<std::string>& words, const GoOn& go_on = {},
                    const std::filesystem::path& output = {});

}  // namespace vkf
